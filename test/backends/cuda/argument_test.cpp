#include "backends/cuda/engine/argument.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backends/cuda/device/pointwise_params.cuh"
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

template <class Where>
Argument with_places(const Where& w, int operands) {
  Argument a;
  a.add(LaunchHead{});
  a.add(77LL);
  a.add_data(kData, operands);
  a.add_places(w, operands);
  Number numbers[2];
  numbers[0].i64 = -5;
  numbers[1].f64 = 0.5;
  a.add_numbers(numbers, 2);
  return a;
}

template <class P>
void expect_operands(const P& p, int dims) {
  EXPECT_EQ(p.n, 77);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(p.data[k], kData[k]);
  EXPECT_EQ(p.where.strides[0][0], 100);
  EXPECT_EQ(p.where.strides[2][dims - 1], 100 + 3 * dims - 1);
  EXPECT_EQ(p.numbers[0].i64, -5);
  EXPECT_EQ(p.numbers[1].f64, 0.5);
}

template <int kRank>
void expect_strides() {
  auto w = filled<Strides<kRank, kMost>>();
  w.divisors[kRank - 1] = {7, 8, 9};
  Argument a = with_places(w, 3);
  const auto p = read<PointwiseParams<Strides<kRank, 3>, 3, 2>>(a);
  expect_operands(p, kRank);
  EXPECT_EQ(p.where.divisors[kRank - 1].shift, 9u);
}

TEST(Argument, strides_of_every_rank) {
  expect_strides<1>();
  expect_strides<2>();
  expect_strides<3>();
  expect_strides<5>();
}

TEST(Argument, squares_and_wide_strides) {
  auto squares = filled<Squares<kMost>>();
  squares.columns = 3;
  squares.rows = 4;
  Argument a = with_places(squares, 3);
  const auto s = read<PointwiseParams<Squares<3>, 3, 2>>(a);
  expect_operands(s, kSquareDims);
  EXPECT_EQ(s.where.columns, 3);
  EXPECT_EQ(s.where.rows, 4);
  auto wide = filled<WideStrides<kMost>>();
  wide.dims = 2;
  wide.sizes[kWideDims - 1] = 6;
  Argument b = with_places(wide, 3);
  const auto w = read<PointwiseParams<WideStrides<3>, 3, 2>>(b);
  expect_operands(w, kWideDims);
  EXPECT_EQ(w.where.dims, 2);
  EXPECT_EQ(w.where.sizes[kWideDims - 1], 6);
}

TEST(Argument, no_numbers_have_the_room_of_one) {
  Argument a;
  a.add(LaunchHead{});
  a.add(5LL);
  a.add_data(kData, 2);
  a.add(Runs{1, 12});
  a.add_numbers(nullptr, 0);
  const auto p = read<PointwiseParams<Runs, 2, 1>>(a);
  EXPECT_EQ(p.where.vectors, 1);
  EXPECT_EQ(p.where.before, 12);
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
