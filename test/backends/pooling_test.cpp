#include "aten/ops/pooling.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <limits>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/number.h"
#include "aten/ops/pooling_adaptive.h"
#include "aten/ops/pooling_max.h"
#include "aten/ops/ranges.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

Tensor counted(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return arange(n, kFloat).view(sizes);
}

TEST(Pooling, SumsOfIntegersWrapAround) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const Tensor a = full({1, 2, 2}, kLeast, TensorOptions(kLong));
  EXPECT_EQ(values(avg_pool2d(a, {2, 2})), (Values{0}));
  EXPECT_EQ(values(avg_pool2d(a, {2, 1})), (Values{0, 0}));
}

TEST(Pooling, MeansCountPaddingOrNot) {
  const Tensor a = counted({1, 1, 3, 3});
  EXPECT_EQ(values(avg_pool2d(a, {2, 2}, {2, 2}, {1, 1})),
            (Values{0, 0.75, 2.25, 6}));
  EXPECT_EQ(values(avg_pool2d(a, {2, 2}, {2, 2}, {1, 1}, false, false)),
            (Values{0, 1.5, 4.5, 6}));
  EXPECT_EQ(values(avg_pool2d(a, {3}, {}, {0}, false, true, 2)), (Values{18}));
  EXPECT_EQ(values(avg_pool1d(counted({1, 5}), {2}, {2}, {0}, true)),
            (Values{0.5, 2.5, 4}));
  EXPECT_EQ(values(avg_pool2d(a.to(kLong), {2, 2}, {1, 1})),
            (Values{2, 3, 5, 6}));
}

TEST(Pooling, ResultsHaveTheFormatOfTheOperand) {
  for (const int64_t channels : {2, 5, 16, 70}) {
    const Tensor last =
        counted({2, channels, 5, 9}).contiguous(MemoryFormat::ChannelsLast);
    const auto [v, at] = max_pool2d_with_indices(last, {3}, {2}, {1});
    EXPECT_TRUE(v.is_contiguous(MemoryFormat::ChannelsLast));
    EXPECT_TRUE(at.is_contiguous(MemoryFormat::ChannelsLast));
  }
}

// Rows taken tap by tap, window by window, and channels side by side.
TEST(Pooling, MaxIsTheSameHoweverItIsFound) {
  const Tensor a = counted({2, 3, 5, 40}).remainder(7);
  const Tensor last = a.contiguous(MemoryFormat::ChannelsLast);
  for (const int64_t stride : {1, 2, 3, 9}) {
    const auto [v, at] = max_pool2d_with_indices(a, {3}, {stride}, {1}, {2});
    const auto [w, there] =
        max_pool2d_with_indices(last, {3}, {stride}, {1}, {2});
    EXPECT_EQ(values(v), values(w));
    EXPECT_EQ(values(at), values(there));
    EXPECT_EQ(values(max_pool_double_backward(a, at, 2)), values(v));
  }
}

// The operator looks for no index if there is no derivative.
TEST(Pooling, MaxIsTheSameWithoutIndices) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ScalarType t : {kFloat, kDouble, kHalf, kInt}) {
    Tensor a = counted({2, 3, 5, 40}).remainder(7).to(t);
    if (t != kInt) a.view({-1}).slice(0, 3, 1200, 31).fill_(nan);
    const auto expect_same = [](const Tensor& x, const Tensor& y) {
      EXPECT_EQ(x.strides(), y.strides());
      EXPECT_TRUE(equal(nan_to_num(x, -1), nan_to_num(y, -1)));
    };
    const auto of = [](const std::tuple<Tensor, Tensor>& both) {
      return std::get<0>(both);
    };
    for (const int64_t stride : {1, 2, 3, 9}) {
      for (const bool ceil : {false, true}) {
        for (const Tensor& x : {a, a.contiguous(MemoryFormat::ChannelsLast)}) {
          expect_same(
              max_pool2d(x, {3}, {stride}, {1}, {2}, ceil),
              of(max_pool2d_with_indices(x, {3}, {stride}, {1}, {2}, ceil)));
          expect_same(
              max_pool3d(x, {3}, {stride}, {1}, {1}, ceil),
              of(max_pool3d_with_indices(x, {3}, {stride}, {1}, {1}, ceil)));
        }
        const Tensor rows = a.view({6, 5, 40});
        expect_same(
            max_pool1d(rows, {4}, {stride}, {2}, {1}, ceil),
            of(max_pool1d_with_indices(rows, {4}, {stride}, {2}, {1}, ceil)));
      }
    }
  }
}

// Whole vectors of channels and what is left of them, in every dtype.
TEST(Pooling, ChannelsSideBySideArePooledAlike) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const auto expect_same = [](const Tensor& x, const Tensor& y) {
    EXPECT_TRUE(equal(nan_to_num(x, 77), nan_to_num(y, 77)));
  };
  for (const ScalarType t : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt}) {
    for (const int64_t channels : {2, 5, 16, 70}) {
      Tensor a = counted({2, channels, 5, 9}).remainder(7).sub(3).to(t);
      if (is_floating_type(t)) {
        a.view({-1}).slice(0, 3, a.numel(), 31).fill_(nan);
        a.view({-1}).slice(0, 5, a.numel(), 41).fill_(-inf);
      }
      const Tensor last = a.contiguous(MemoryFormat::ChannelsLast);
      for (const bool ceil : {false, true}) {
        const auto [v, at] =
            max_pool2d_with_indices(a, {3}, {2}, {1}, {1}, ceil);
        const auto [w, there] =
            max_pool2d_with_indices(last, {3}, {2}, {1}, {1}, ceil);
        expect_same(v, w);
        expect_same(at, there);
        expect_same(max_pool2d(last, {3}, {2}, {1}, {1}, ceil), v);
        if (t == kInt) continue;
        const Tensor mean = avg_pool2d(a, {3}, {2}, {1}, ceil, false);
        expect_same(avg_pool2d(last, {3}, {2}, {1}, ceil, false), mean);
        expect_same(avg_pool2d_backward(v, a, {3}, {2}, {1}, ceil, true, 4),
                    avg_pool2d_backward(v, last, {3}, {2}, {1}, ceil, true, 4));
        if (t == kLong) continue;
        expect_same(max_pool2d_with_indices_backward(v, a, {3}, {2}, {1}, {1},
                                                     ceil, at),
                    max_pool2d_with_indices_backward(w, last, {3}, {2}, {1},
                                                     {1}, ceil, there));
      }
    }
  }
}

TEST(Pooling, OfEqualsTheFirstAndOfNanTheLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ScalarType t : {kFloat, kDouble, kHalf}) {
    const Tensor a = tensor({{nan, 1.0, nan, 2.0}, {3.0, 5.0, 5.0, 5.0}}).to(t);
    const auto [v, at] = max_pool1d_with_indices(a, {4});
    EXPECT_EQ(values(at), (Values{2, 1}));
    EXPECT_TRUE(std::isnan(values(v)[0]));
  }
  const Tensor low = full({1, 2, 2}, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(values(std::get<1>(max_pool2d_with_indices(low, {2}))), Values{0});
}

TEST(Pooling, WindowsOfPaddingAlone) {
  // Along the rows the only window has elements -1 and 2 of two.
  for (const ScalarType dtype : {kFloat, kInt, kByte}) {
    const Tensor a = counted({1, 2, 4}).to(dtype);
    const auto [v, at] =
        max_pool2d_with_indices(a, {2, 2}, {1}, {1, 0}, {3, 1});
    EXPECT_EQ(values(at), (Values{4, 5, 6}));
    const double least = dtype == kFloat ? -INFINITY
                         : dtype == kInt ? INT_MIN
                                         : 0;
    EXPECT_EQ(values(v.to(kDouble)), Values(3, least));
    const Tensor alone = max_pool2d(a, {2, 2}, {1}, {1, 0}, {3, 1});
    EXPECT_EQ(values(alone.to(kDouble)), Values(3, least));
    const Tensor rows =
        a.view({1, 1, 2, 4}).contiguous(MemoryFormat::ChannelsLast);
    const Tensor last =
        std::get<0>(max_pool2d_with_indices(rows, {2, 2}, {1}, {1, 0}, {3, 1}));
    EXPECT_EQ(values(last.to(kDouble)), Values(3, least));
  }
}

TEST(Pooling, WholePlanesGoByTheSameRules) {
  const double nan = NAN, inf = INFINITY;
  const Tensor planes = zeros({5, 6, 7}).to(kFloat);
  const auto put = [&](int64_t plane, int64_t at, double v) {
    planes.view({5, 42}).select(0, plane).select(0, at).fill_(v);
  };
  put(0, 3, 2), put(0, 30, 2);
  put(1, 5, nan), put(1, 33, nan), put(1, 40, inf);
  planes.select(0, 2).fill_(-inf);
  put(3, 41, 1);
  put(4, 0, -0.0);
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    const auto [v, at] = adaptive_max_pool2d(planes.to(dtype), {1, 1});
    EXPECT_EQ(values<int64_t>(at), (std::vector<int64_t>{3, 33, 0, 41, 0}));
    const Values most = values(v.to(kDouble));
    EXPECT_EQ(most[0], 2);
    EXPECT_TRUE(std::isnan(most[1]));
    EXPECT_EQ(most[2], -inf);
    EXPECT_TRUE(std::signbit(most[4]));
    const auto [w, there] = max_pool2d_with_indices(planes.to(dtype), {6, 7});
    EXPECT_EQ(values<int64_t>(there), values<int64_t>(at));
  }
}

TEST(Pooling, AdaptiveWindowsFollowFromTheSizes) {
  EXPECT_EQ(values(adaptive_avg_pool1d(counted({1, 5}), {3})),
            (Values{0.5, 2, 3.5}));
  EXPECT_EQ(values(adaptive_avg_pool2d(counted({1, 2, 3}), {2, 1})),
            (Values{1, 4}));
  EXPECT_EQ(
      values(std::get<1>(adaptive_max_pool2d(counted({1, 3, 3}), {2, 2}))),
      (Values{4, 5, 7, 8}));
}

TEST(Pooling, UnpooledElementsAreAtTheirIndices) {
  const Tensor a = counted({1, 4, 4});
  const auto [v, at] = max_pool2d_with_indices(a, {2});
  const Tensor back = max_unpool2d(v, at, {4, 4});
  EXPECT_EQ(values(back),
            (Values{0, 0, 0, 0, 0, 5, 0, 7, 0, 0, 0, 0, 0, 13, 0, 15}));
}

TEST(Pooling, GradientsOfNowhereAreDropped) {
  const Tensor a = counted({1, 3, 4, 4}), grad = full({1, 3, 2, 2}, 1.0);
  for (const MemoryFormat f :
       {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    const Tensor x = a.contiguous(f);
    const auto backward = [&](int64_t index) {
      return max_pool2d_with_indices_backward(
          grad, x, {2}, {2}, {0}, {1}, false,
          full({1, 3, 2, 2}, index, kLong).contiguous(f));
    };
    const Tensor at_5 = backward(5);
    EXPECT_EQ(at_5.sum().item<double>(), 12);
    EXPECT_EQ(values(at_5.select(2, 1).select(2, 1)), (Values{4, 4, 4}));
    EXPECT_EQ(values(backward(-1)), values(zeros_like(a)));
    for (const int64_t bad : {int64_t{16}, int64_t{-2}, INT64_MIN, INT64_MAX}) {
      SY_EXPECT_ERROR(backward(bad), IndexError,
                      "[max_pool2d_with_indices_backward] indices: expected "
                      "values in [0, 15], got");
    }
    SY_EXPECT_ERROR(max_unpool2d(grad, full({1, 3, 2, 2}, -1, kLong), {4, 4}),
                    IndexError, "got -1");
  }
}

TEST(Pooling, ErrorsNameTheOperatorThatWasCalled) {
  const Tensor a = counted({2, 4, 4});
  const Tensor wanted = a.clone().requires_grad_();
  for (const Tensor& x : {a, wanted}) {
    SY_EXPECT_ERROR(max_pool1d(x, {0}), ValueError, "[max_pool1d] kernel_size");
    SY_EXPECT_ERROR(max_pool2d(x, {2}, {0}), ValueError, "[max_pool2d] stride");
    SY_EXPECT_ERROR(max_pool3d(x, {2}), ValueError, "[max_pool3d] self");
  }
  SY_EXPECT_ERROR(max_pool2d(a.to(kBool), {2}), ValueError,
                  "[max_pool2d] self: expected numbers, got bool");
}

TEST(Pooling, BadWindowsAreErrors) {
  const Tensor a = counted({1, 1, 4, 4});
  const int64_t big = INT64_MAX;
  SY_EXPECT_ERROR(avg_pool2d(a, {0}), ValueError, "[avg_pool2d] kernel_size");
  SY_EXPECT_ERROR(avg_pool2d(a, {big}), ValueError, "kernel_size");
  SY_EXPECT_ERROR(avg_pool2d(a, {2, 2, 2}), ValueError, "1 number or 2");
  SY_EXPECT_ERROR(avg_pool2d(a, {2}, {-1}), ValueError, "stride");
  SY_EXPECT_ERROR(avg_pool2d(a, {2}, {1}, {2}), ValueError, "at most half");
  SY_EXPECT_ERROR(avg_pool2d(a, {5}), ValueError, "windows that fit");
  SY_EXPECT_ERROR(avg_pool2d(a, {2}, {}, {0}, false, true, 0), ValueError,
                  "divisor_override");
  SY_EXPECT_ERROR(max_pool2d_with_indices(a, {2}, {}, {0}, {0}), ValueError,
                  "dilation");
  SY_EXPECT_ERROR(max_pool2d_with_indices(a.to(kBool), {2}), ValueError,
                  "numbers");
  SY_EXPECT_ERROR(max_pool2d_with_indices(zeros({1, 0, 4, 4}), {2}), ValueError,
                  "empty in its batch only");
  SY_EXPECT_ERROR(adaptive_avg_pool2d(a, {-1, 2}), ValueError, "output_size");
  const Tensor at = full({1, 1, 2, 2}, 16, kLong);
  SY_EXPECT_ERROR(max_unpool2d(a.slice(2, 0, 2).slice(3, 0, 2), at, {4, 4}),
                  IndexError, "[max_unpool2d] indices");
}

}  // namespace
}  // namespace sy::families
