#include "aten/engine/iter.h"

#include <set>

#include <gtest/gtest.h>

#include "aten/engine/view.h"

namespace sy {
namespace {

Tensor make(IntArrayRef sizes) {
  return Tensor(make_tensor(sizes, kFloat, Device(kCPU)));
}

Tensor strided(const Tensor& t, IntArrayRef sizes, IntArrayRef strides) {
  return alias_without_view(t, sizes, strides, 0);
}

TEST(Iter, ContiguousDimsAreOne) {
  const Tensor a = make({3, 4, 5});
  Iter iter(a.sizes());
  iter.add(a);
  iter.add(a);
  iter.finish();
  EXPECT_EQ(iter.ndim(), 1);
  EXPECT_EQ(iter.size(0), 60);
  EXPECT_TRUE(iter.is_linear(0));
}

TEST(Iter, FollowsTheFirstOperand) {
  const Tensor a = strided(make({12}), {3, 4}, {1, 3});
  const Tensor b = make({3, 4});
  Iter iter(a.sizes());
  iter.add(a);
  iter.add(b);
  iter.finish();
  ASSERT_EQ(iter.ndim(), 2);
  EXPECT_EQ(iter.size(0), 3);
  EXPECT_EQ(iter.stride(0, 0), 4);
  EXPECT_EQ(iter.stride(1, 0), 16);
}

TEST(Iter, BroadcastOperandsHaveStrideZero) {
  const Tensor a = make({3, 4}), b = make({4}), c = make({3, 1});
  Iter iter(a.sizes());
  for (const Tensor* t : {&a, &b, &c}) iter.add(*t);
  iter.finish();
  ASSERT_EQ(iter.ndim(), 2);
  EXPECT_EQ(iter.stride(1, 1), 0);
  EXPECT_EQ(iter.stride(2, 0), 0);
}

TEST(Iter, NoDims) {
  const Tensor a = make({});
  Iter iter(a.sizes());
  iter.add(a);
  iter.finish();
  EXPECT_EQ(iter.ndim(), 1);
  EXPECT_EQ(iter.numel(), 1);
  EXPECT_TRUE(iter.is_linear(0));
}

// Every element is visited once, however the walk is cut.
TEST(Iter, PiecesCoverEverything) {
  const Tensor base = make({1000});
  const Tensor a = strided(base, {5, 4, 7}, {100, 2, 9});
  Iter iter(a.sizes());
  iter.add(a);
  iter.finish();
  for (const int64_t step : {1, 2, 3, 7, 28, 29, 60, 140}) {
    std::multiset<const char*> seen;
    for (int64_t begin = 0; begin < iter.numel(); begin += step) {
      iter.run(begin, std::min(begin + step, iter.numel()),
               [&](const Iter::Block& b) {
                 for (int64_t r = 0; r < b.rows; ++r) {
                   for (int64_t c = 0; c < b.columns; ++c) {
                     seen.insert(b.data[0] + c * iter.stride(0, 0) +
                                 (r == 0 ? 0 : r * iter.stride(0, 1)));
                   }
                 }
               });
    }
    ASSERT_EQ(seen.size(), 140u) << step;
    const char* p = static_cast<const char*>(base.data_ptr());
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        for (int64_t k = 0; k < 7; ++k) {
          ASSERT_EQ(seen.count(p + 4 * (i * 100 + j * 2 + k * 9)), 1u);
        }
      }
    }
  }
}

// Nobody takes a step along a dim of one element.
TEST(Iter, StridesOfOneElementMayBeAnything) {
  float data[4] = {};
  Iter iter({1, 4});
  iter.add(data, sizeof(float), {INT64_MAX, 1});
  iter.finish();
  int64_t seen = 0;
  iter.run(0, 4, [&](const Iter::Block& b) { seen += b.rows * b.columns; });
  EXPECT_EQ(seen, 4);
}

}  // namespace
}  // namespace sy
