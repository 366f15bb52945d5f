#include "aten/ops/factory.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "aten/ops/random.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

TEST(Factory, Empty) {
  EXPECT_EQ(empty({2, 3}).dtype(), kFloat);
  EXPECT_EQ(ints(empty({2, 3, 4, 5}, {}, MemoryFormat::ChannelsLast).strides()),
            (std::vector<int64_t>{60, 1, 15, 3}));
  SY_EXPECT_ERROR(empty({2, -3}), ValueError, "non-negative");
  SY_EXPECT_ERROR(empty({int64_t{1} << 62, 4}), ValueError, "2^63-1");
  SY_EXPECT_ERROR(empty({int64_t{1} << 50}), OutOfMemoryError, "memory");
  EXPECT_EQ(ints(empty_strided({2, 3}, {1, 2}).strides()),
            (std::vector<int64_t>{1, 2}));
}

TEST(Factory, Arange) {
  EXPECT_EQ(values(arange(4)), (Values{0, 1, 2, 3}));
  EXPECT_EQ(arange(4).dtype(), kLong);
  EXPECT_EQ(arange(4.0).dtype(), kFloat);
  EXPECT_EQ(values(arange(1, 2, 0.25)), (Values{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(values(arange(5, 0, -2)), (Values{5, 3, 1}));
  EXPECT_EQ(arange(3, 3, 1).numel(), 0);
  EXPECT_EQ(values(arange(0, 300, 100, kByte)), (Values{0, 100, 200}));
  const int64_t big = int64_t{1} << 60;
  EXPECT_EQ(values<int64_t>(arange(big, big + 3, 1)),
            (std::vector<int64_t>{big, big + 1, big + 2}));
  SY_EXPECT_ERROR(arange(0, 3, 0), ValueError, "[arange] step");
  SY_EXPECT_ERROR(arange(0, 3, -1), ValueError, "[arange] end");
  SY_EXPECT_ERROR(arange(0, INFINITY, 1), ValueError, "finite");
}

TEST(Factory, Linspace) {
  EXPECT_EQ(values(linspace(0, 1, 5)), (Values{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(values(linspace(3, 9, 1)), (Values{3}));
  EXPECT_EQ(linspace(3, 9, 0).numel(), 0);
  EXPECT_EQ(values(linspace(0, 10, 11, kInt)),
            (Values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  SY_EXPECT_ERROR(linspace(0, 1, -1), ValueError, "[linspace] steps");
}

TEST(Factory, MemoryIsPinnedForADevice) {
  SY_EXPECT_ERROR(empty({2}, TensorOptions(kCPU).pinned_memory(true)),
                  ValueError,
                  "[empty] pin_memory: expected a device that pins memory");
}

TEST(Factory, Fill) {
  Tensor a = zeros({4, 5});
  a.slice(1, 0, 5, 2).fill_(3);
  EXPECT_EQ(values(a.select(0, 1)), (Values{3, 0, 3, 0, 3}));
  Tensor bytes = zeros({3}, kByte);
  SY_EXPECT_ERROR(bytes.fill_(300), ValueError, "300");
  EXPECT_EQ(values(full({2}, true)), (Values{1, 1}));
  EXPECT_EQ(full({2}, 3).dtype(), kLong);
}

TEST(Factory, FillOfAnyLength) {
  for (const ScalarType t : {kByte, kHalf, kFloat, kDouble, kBool}) {
    for (const int64_t n : {1, 511, 512, 4097, 20000}) {
      for (const int value : {0, 1, 3}) {
        Tensor x = empty({n + 2}, t);
        x.fill_(1);
        x.narrow(0, 1, n).fill_(value);
        const double want = t == kBool ? value != 0 : value;
        const Values got = values(x);
        EXPECT_EQ(got.front(), 1);
        EXPECT_EQ(got.back(), 1);
        EXPECT_EQ(std::count(got.begin() + 1, got.end() - 1, want), n)
            << dtype_name(t);
      }
    }
  }
}

TEST(Factory, Randperm) {
  manual_seed(5);
  const Tensor p = randperm(1000);
  std::vector<int64_t> sorted = values<int64_t>(p);
  EXPECT_NE(values<int64_t>(arange(1000)), sorted);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(values<int64_t>(arange(1000)), sorted);
  manual_seed(5);
  EXPECT_EQ(values(randperm(1000)), values(p));
  // Promised to stay: draws of a seed are the same everywhere.
  manual_seed(3);
  const Values known = values(randperm(1025));
  EXPECT_EQ((Values{known[0], known[511], known[512], known[1024]}),
            (Values{918, 353, 547, 569}));
  SY_EXPECT_ERROR(randperm(-1), ValueError, "[randperm] n");
  SY_EXPECT_ERROR(randperm(300, kByte), ValueError, "299");
  SY_EXPECT_ERROR(randperm(2, kBool), TypeError, "[randperm] dtype");
}

TEST(Shape, Cat) {
  const Tensor a = arange(4, kFloat).view({2, 2}), b = ones({1, 2}, kLong);
  const Tensor c = cat({a, b}, 0);
  EXPECT_EQ(c.dtype(), kFloat);
  EXPECT_EQ(values(c), (Values{0, 1, 2, 3, 1, 1}));
  EXPECT_EQ(values(cat({a, a.t()}, -1)), (Values{0, 1, 0, 2, 2, 3, 1, 3}));
  EXPECT_EQ(ints(cat({ones({0}), a}, 1).sizes()), (std::vector<int64_t>{2, 2}));
  SY_EXPECT_ERROR(cat({a, ones({2, 3})}, 0), ValueError, "cat");
  SY_EXPECT_ERROR(cat({a, ones({2})}, 0), ValueError, "cat");
  SY_EXPECT_ERROR(cat({a, a}, 2), IndexError, "cat");
}

TEST(Shape, FlipAndTriangles) {
  const Tensor a = arange(6, kInt).view({2, 3});
  EXPECT_EQ(values(flip(a, {1})), (Values{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values(flip(a, {0, -1})), (Values{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values(flip(a.t(), {0})), (Values{2, 5, 1, 4, 0, 3}));
  for (const ScalarType t : {kByte, kShort, kFloat, kLong}) {
    const Tensor x = arange(101, kLong).to(t);
    Values backwards = values(x);
    std::reverse(backwards.begin(), backwards.end());
    EXPECT_EQ(values(flip(x, {0})), backwards);
  }
  SY_EXPECT_ERROR(flip(a, {0, 0}), ValueError, "distinct");
  EXPECT_EQ(values(tril(ones({3, 3}))), (Values{1, 0, 0, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(values(triu(ones({2, 3}), 1)), (Values{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(values(triu(ones({2, 2}), -5)), Values(4, 1));
  EXPECT_EQ(values(tril(ones({2, 2}), 100)), Values(4, 1));
}

}  // namespace
}  // namespace sy::families
