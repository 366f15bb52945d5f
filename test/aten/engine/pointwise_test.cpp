#include "aten/engine/pointwise.h"

#include <numeric>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "c10/process/parallel.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;

Tensor range(IntArrayRef sizes, ScalarType dtype = kFloat) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return arange(n, dtype).view(sizes);
}

TEST(Pointwise, Broadcasts) {
  const Tensor a = range({2, 3});
  EXPECT_EQ(values(a + range({3})), (Values{0, 2, 4, 3, 5, 7}));
  EXPECT_EQ(values(a + range({2, 1})), (Values{0, 1, 2, 4, 5, 6}));
  const Tensor both = range({3, 1}) * 10 + range({2});
  EXPECT_EQ(ints(both.sizes()), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(values(both), (Values{0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(ints((ones({0, 3}) + ones({1, 3})).sizes()),
            (std::vector<int64_t>{0, 3}));
  SY_EXPECT_ERROR(a + range({4}), ValueError,
                  "[add.Tensor] other: expected sizes that broadcast to "
                  "[2, 3], got [4]");
}

TEST(Pointwise, AnyStrides) {
  const Tensor a = range({4, 6});
  Values want(24);
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 6; ++c) want[c * 4 + r] = 2 * (r * 6 + c);
  }
  EXPECT_EQ(values(a.t() + a.t()), want);
  EXPECT_EQ(values(a.t() + a.t().contiguous()), want);
  EXPECT_EQ(values(a.slice(1, 1, 6, 2) * 2),
            (Values{2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46}));
  EXPECT_EQ(values(a.select(1, 2) + ones({4, 1, 1})).size(), 16u);
  EXPECT_EQ(values(range({3}).expand({2, 3}) + 1), (Values{1, 2, 3, 1, 2, 3}));
}

TEST(Pointwise, ResultsKeepTheOrderOfTheDims) {
  const Tensor a = range({4, 6}).t();
  EXPECT_EQ(ints((a + a).strides()), ints(a.strides()));
  EXPECT_EQ(ints((a * 2).strides()), ints(a.strides()));
  EXPECT_EQ(ints(exp(ones({2, 3, 4, 5}).permute({0, 3, 1, 2})).strides()),
            (std::vector<int64_t>{60, 1, 20, 5}));
}

// The walk of large tensors, and the shapes in which it takes other ways.
TEST(Pointwise, LargeTensorsOfAllLayouts) {
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (const int64_t n : {1, 7, 64, 200, 513}) {
      const Tensor a = range({n, n + 1}, kDouble);
      const Tensor b = range({n + 1, n}, kDouble).t();
      const Values x = values(a), y = values(b), z = values(a + b);
      const Values flat = values(a.slice(1, 0, n, 2) - b.slice(1, 0, n, 2));
      ASSERT_EQ(z.size(), x.size());
      for (size_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], x[i] + y[i]);
      size_t k = 0;
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t c = 0; c < n; c += 2, ++k) {
          const auto i = static_cast<size_t>(r * (n + 1) + c);
          ASSERT_EQ(flat[k], x[i] - y[i]);
        }
      }
    }
  }
  set_num_threads(1);
}

TEST(Pointwise, MixedDtypesAtAnyStrides) {
  const Tensor a = range({40, 50}, kInt).t();
  const Tensor b = range({50, 40}, kHalf) / 64;
  const Values x = values(a), y = values(b), z = values(a + b.to(kFloat));
  for (size_t i = 0; i < z.size(); ++i) {
    ASSERT_EQ(static_cast<float>(z[i]), static_cast<float>(x[i] + y[i]));
  }
}

TEST(Pointwise, Empty) {
  EXPECT_EQ((ones({0}) + 1).numel(), 0);
  EXPECT_EQ(ints((ones({2, 0, 3}) * ones({3})).sizes()),
            (std::vector<int64_t>{2, 0, 3}));
  Tensor out = ones({5});
  add_out(out, ones({0}), ones({0}));
  EXPECT_EQ(out.numel(), 0);
}

TEST(Pointwise, HugeSizesAreErrorsNotAllocations) {
  const Tensor a = ones({1}).expand({int64_t{1} << 40});
  const Tensor b = ones({1, 1}).expand({int64_t{1} << 40, 1});
  SY_EXPECT_ERROR(a + b, ValueError, "2^63-1");
  SY_EXPECT_ERROR(a + a, OutOfMemoryError, "out of memory");
}

TEST(Pointwise, OutIsResizedAndCast) {
  Tensor out = ones({7}, kDouble);
  Tensor& same = add_out(out, range({2, 3}), range({3}));
  EXPECT_TRUE(same.is_same(out));
  EXPECT_EQ(ints(out.sizes()), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(out.dtype(), kDouble);
  EXPECT_EQ(values(out), (Values{0, 2, 4, 3, 5, 7}));
  Tensor column = ones({3, 2}).t();
  add_out(column, range({2, 3}), range({3}));
  EXPECT_EQ(ints(column.strides()), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(values(column), (Values{0, 2, 4, 3, 5, 7}));
  Tensor whole = ones({3}, kInt);
  SY_EXPECT_ERROR(add_out(whole, range({3}), range({3})), TypeError,
                  "out: expected a dtype that float32 can be cast to, got "
                  "int32");
}

TEST(Pointwise, InPlaceKeepsDtypeAndSizes) {
  Tensor a = range({2, 3});
  a.add_(range({3}), 2);
  EXPECT_EQ(values(a), (Values{0, 3, 6, 3, 6, 9}));
  Tensor half = ones({3}, kHalf);
  half.add_(ones({3}, kDouble));
  EXPECT_EQ(half.dtype(), kHalf);
  Tensor row = ones({3});
  SY_EXPECT_ERROR(row.add_(ones({2, 3})), ValueError,
                  "self: expected [2, 3], the sizes of the result, got [3]");
  Tensor whole = ones({3}, kInt);
  SY_EXPECT_ERROR(whole.mul_(1.5), TypeError, "float32 can be cast to");
}

TEST(Pointwise, WritesBumpTheVersionOnce) {
  Tensor a = ones({3}), out = ones({3});
  const uint32_t a_before = a._version(), out_before = out._version();
  a.add_(1);
  add_out(out, a, a);
  EXPECT_EQ(a._version(), a_before + 1);
  EXPECT_EQ(out._version(), out_before + 1);
  SY_EXPECT_ERROR(a.add_(ones({4})), ValueError, "broadcast");
  EXPECT_EQ(a._version(), a_before + 1);
}

TEST(Pointwise, MemoryThatOverlaps) {
  Tensor spread = ones({1}).expand({3});
  SY_EXPECT_ERROR(spread.add_(1), ValueError, "memory of their own");
  Tensor a = range({6});
  Tensor low = a.slice(0, 0, 4), high = a.slice(0, 2, 6);
  SY_EXPECT_ERROR(low.add_(high), ValueError, "[add");
  Tensor all = a.view({6});
  all.add_(a);  // element by element
  EXPECT_EQ(values(a), (Values{0, 2, 4, 6, 8, 10}));
  Tensor left = a.slice(0, 0, 3), right = a.slice(0, 3, 6);
  left.add_(right);
  EXPECT_EQ(values(a), (Values{6, 10, 14, 6, 8, 10}));
}

TEST(Pointwise, ComparisonsRoundNumbersToTheDtype) {
  const Tensor tenth = full({2}, 0.1, kBFloat16);
  EXPECT_EQ(values(tenth <= 0.1), (Values{1, 1}));
  EXPECT_EQ(values(tenth == 0.1), (Values{1, 1}));
  EXPECT_EQ(values(full({1}, 0.1, kHalf) == 0.1), (Values{1}));
  EXPECT_EQ(values(full({1}, 0.1, kFloat) == 0.1), (Values{1}));
}

TEST(Pointwise, DtypesWithoutAKernelAreErrors) {
  SY_EXPECT_ERROR(bitwise_and(ones({2}), ones({2})), TypeError,
                  "expected an integer or bool dtype, got float32");
}

TEST(Pointwise, BoundsBeyondAnIntegerDtype) {
  const Tensor bytes = range({3}, kByte);
  EXPECT_EQ(values(clamp_min(bytes, -1)), (Values{0, 1, 2}));
  EXPECT_EQ(values(clamp_max(bytes, 300)), (Values{0, 1, 2}));
  EXPECT_EQ(values(clamp(bytes, -5, 1)), (Values{0, 1, 1}));
  EXPECT_EQ(values(clamp(bytes, 1, 1000)), (Values{1, 1, 2}));
  EXPECT_EQ(values(clamp_max(range({3}, kChar), 300)), (Values{0, 1, 2}));
  SY_EXPECT_ERROR(clamp_max(bytes, -1), ValueError,
                  "max: expected at least 0 for dtype uint8, got -1");
  SY_EXPECT_ERROR(clamp_min(bytes, 300), ValueError,
                  "min: expected at most 255 for dtype uint8, got 300");
}

TEST(Pointwise, DividingIntegersByZero) {
  SY_EXPECT_ERROR(div(range({3}, kInt), zeros({3}, kInt), "floor"), ValueError,
                  "divisor");
  EXPECT_EQ(values(div(range({3}, kInt), ones({3}, kInt), "floor")),
            (Values{0, 1, 2}));
}

TEST(Pointwise, TensorsOfMetaHaveNoData) {
  const Tensor a = empty({2, 3}, TensorOptions(Device(kMeta)));
  const Tensor b = a + a.select(0, 0);
  EXPECT_TRUE(b.is_meta());
  EXPECT_EQ(ints(b.sizes()), (std::vector<int64_t>{2, 3}));
  SY_EXPECT_ERROR(a + ones({2, 3}), ValueError, "one device");
  EXPECT_TRUE((a + ones(IntArrayRef())).is_meta());
}

}  // namespace
}  // namespace sy
