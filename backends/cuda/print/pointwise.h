#pragma once

#include <cstdint>
#include <string>

#include "aten/program/program.h"

// Pointwise kernels: an element program as an Op, in a shell of
// device/pointwise.cuh. A kernel depends on the dtypes of its operands and on
// how these lie, by classes; sizes, strides and numbers are arguments.

namespace sy::cuda::print {

enum class IndexClass : uint8_t {
  // All operands are runs of contiguous elements, or one element.
  kLinear,
  // `rank` dims and fewer than 2^31 elements.
  kStrided,
  // Some inputs are contiguous along dim 1, the results along dim 0: squares
  // of elements go through shared memory.
  kTransposed,
  // Any sizes, up to kWideDims dims.
  kWide,
};

// The facts that a kernel is made for. Everything is borrowed.
struct PointwiseKernel {
  const program::Program* program = nullptr;
  program::ComputeType type = program::ComputeType::f32;
  IndexClass index = IndexClass::kLinear;
  uint8_t rank = 0;  // of kStrided: 1, 2, 3 or 5
  // Elements of kStrided go in packs of tile_of().width along dim 0, whose size
  // is that of packs. All operands are contiguous there, `single` inputs the
  // same for all elements of a pack.
  bool packs = false;
  // Bit i: input i. `immediate` inputs are numbers of the call, in the compute
  // type (or bool8), after the uniforms. `single` ones of kLinear have one
  // element. `transposed` ones are contiguous along dim 1, which only a few may
  // be: see kMaxTransposed.
  uint64_t immediate = 0, single = 0, transposed = 0;
  const ScalarType* dtypes = nullptr;  // of the inputs, then of the results

  int operands() const { return program->n_inputs + program->n_results; }
};

// How a kernel shares the elements among threads: each thread takes `unroll`
// times `width` neighbouring ones.
struct PointwiseTile {
  int width = 1, unroll = 1;
  int each() const { return width * unroll; }
};
PointwiseTile tile_of(const PointwiseKernel& k);
// About how many instructions an element takes, and what a thread takes where
// elements lie in packs of operands of `narrow` to `broad` bytes each.
int cost_of(const program::Program& p, program::ComputeType type);
PointwiseTile packed_tile(int cost, int narrow, int broad);
inline constexpr int kMaxTransposed = 4;  // as shared memory is 48 KB

// A kernel whose argument is a PointwiseParams of device/pointwise_params.cuh.
std::string print_pointwise(const PointwiseKernel& k, const std::string& name);

}  // namespace sy::cuda::print
