#include "backends/cuda/engine/argument.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backends/cuda/device/region_params.cuh"

// Arguments that the host puts together lie as kernels read them.

namespace sy::cuda {
namespace {

// What a kernel finds that takes a P.
template <class P>
P read(Argument& a) {
  EXPECT_EQ(a.size(), sizeof(P));
  P p;
  std::memcpy(static_cast<void*>(&p), a.data(), sizeof(P));
  return p;
}

char memory[8];
char* const kData[] = {memory, nullptr, memory + 4};
constexpr int kMost = 10;

template <class Where>
Where filled() {
  Where w;
  long long n = 100;
  for (auto& operand : w.strides) {
    for (auto& stride : operand) stride = n++;
  }
  return w;
}

TEST(Argument, no_numbers_have_the_room_of_one) {
  Argument a;
  a.add(LaunchHead{});
  for (const long long n : {8, 1, 2}) a.add(n);
  a.add_data(kData, 2);
  a.add_places(filled<Walk<kMost>>(), 2);
  a.add_numbers(nullptr, 0);
  const auto p = read<RegionWalkParams<2, 1>>(a);
  EXPECT_EQ(p.data[0], kData[0]);
  EXPECT_EQ(p.walk.strides[1][0], 100 + kWalkDims);
}

TEST(Argument, walks_of_regions) {
  auto walk = filled<Walk<kMost>>();
  walk.dims = 3;
  Argument a;
  a.add(LaunchHead{});
  for (const long long n : {8, 1, 2}) a.add(n);
  a.add_data(kData, 3);
  a.add_places(walk, 3);
  Number number;
  number.i64 = 9;
  a.add_numbers(&number, 1);
  const auto p = read<RegionWalkParams<3, 1>>(a);
  EXPECT_EQ(p.packs, 2);
  EXPECT_EQ(p.data[2], kData[2]);
  EXPECT_EQ(p.walk.dims, 3);
  EXPECT_EQ(p.walk.strides[2][kWalkDims - 1], 100 + 3 * kWalkDims - 1);
  EXPECT_EQ(p.numbers[0].i64, 9);
}

}  // namespace
}  // namespace sy::cuda
