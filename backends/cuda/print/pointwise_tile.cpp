#include <algorithm>
#include <bit>

#include "backends/cuda/print/body.h"
#include "backends/cuda/print/pointwise.h"

namespace sy::cuda::print {

namespace {

// About how long a step is, in instructions. The elements of a thread are
// written out, so that long ones would take the compiler too long.
int cost_of_file(std::string_view file) {
  struct Cost {
    std::string_view file;
    int cost;
  };
  static constexpr Cost kCosts[] = {
      {"functors/math_float.cuh", 10}, {"functors/division.cuh", 10},
      {"functors/power.cuh", 30},      {"functors/math_double.cuh", 40},
      {"functors/plain.cuh", 40},      {"functors/special.cuh", 80},
  };
  for (const Cost& c : kCosts) {
    if (c.file == file) return c.cost;
  }
  return 1;
}

constexpr int kWritten = 192;  // instructions of all elements of a thread
constexpr int kInFlight = 64;  // bytes of one operand

int floor_power_of_two(int n) {
  return static_cast<int>(
      std::bit_floor(static_cast<unsigned>(std::max(n, 1))));
}

// Elements of a thread that the kernel writes out.
int most_written(int cost) {
  return floor_power_of_two(kWritten / std::max(1, cost));
}

}  // namespace

int cost_of(const program::Program& p, program::ComputeType type) {
  int cost = 0;
  for (const std::string_view file : needed_files(p, type)) {
    cost = std::max(cost, cost_of_file(file));
  }
  return cost * p.n_steps;
}

PointwiseTile packed_tile(int cost, int narrow, int broad) {
  const int most = most_written(cost);
  const int width = std::min({16 / narrow, std::max(16 / broad, 4), most});
  const int unroll = std::min(kInFlight / (width * broad), most / width);
  return {width, std::max(1, unroll)};
}

PointwiseTile tile_of(const PointwiseKernel& k) {
  const program::Program& p = *k.program;
  const int cost = cost_of(p, k.type);
  if (k.index == IndexClass::kStrided && !k.packs) {
    return {1, std::min(most_written(cost), 4)};
  }
  if (k.index != IndexClass::kLinear && k.index != IndexClass::kStrided) {
    return {};
  }
  int narrow = 8, broad = 1;
  for (int i = 0; i < k.operands(); ++i) {
    if (i < p.n_inputs && ((k.single | k.immediate) >> i & 1) != 0) continue;
    const int size = static_cast<int>(element_size(k.dtypes[i]));
    narrow = std::min(narrow, size);
    broad = std::max(broad, size);
  }
  return packed_tile(cost, narrow, broad);
}

}  // namespace sy::cuda::print
