#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/random.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

void expect_near(const Tensor& got, const Tensor& want, double tolerance) {
  const Values x = values(got), y = values(want);
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance);
}

TEST(Softmax, AgainstItsDefinition) {
  manual_seed(1);
  for (const ScalarType t : {kFloat, kDouble, kHalf, kBFloat16}) {
    const double tolerance = t == kBFloat16 ? 2e-2 : t == kHalf ? 3e-3 : 1e-5;
    for (const int64_t n : {1, 3, 10, 64, 65, 1500}) {
      const Tensor x = (randn({7, n, 3}, kDouble) * 5).to(t);
      for (const int64_t dim : {0, 1, 2, -1}) {
        const Tensor e = exp(x.to(kDouble));
        const Tensor want = e / sum(e, {dim}, true);
        const Tensor got = softmax(x, dim);
        EXPECT_EQ(got.dtype(), t);
        expect_near(got, want, tolerance);
        expect_near(exp(log_softmax(x, dim).to(kDouble)), want, tolerance * 4);
      }
      const Tensor rows = x.select(2, 0);
      expect_near(softmax(rows, 1), softmax(rows.contiguous(), 1), 0);
    }
  }
}

TEST(Softmax, RowsDoNotDependOnTheirNeighbours) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const ScalarType t : {kFloat, kDouble}) {
    for (const int64_t n : {1, 2, 7, 15, 16, 17, 40, 300}) {
      const Tensor x = randn({37, n}).to(t), g = randn({37, n}).to(t);
      x.select(0, 3).select(0, n / 2).fill_(std::nan(""));
      x.select(0, 5).fill_(-kInf);
      x.select(0, 36).select(0, 0).fill_(kInf);
      const Tensor y = softmax(x, 1), l = log_softmax(x, 1);
      const Tensor dy = _softmax_backward_data(g, y, 1, t);
      const Tensor dl = _log_softmax_backward_data(g, l, 1, t);
      for (int64_t r = 0; r < 37; ++r) {
        const auto at = [&](const Tensor& a) { return a.narrow(0, r, 1); };
        const auto same = [&](const Tensor& all, const Tensor& one) {
          const Values a = values(at(all)), b = values(one);
          for (size_t i = 0; i < a.size(); ++i) {
            ASSERT_TRUE(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]))
                << n << " " << r << " " << i << " " << a[i] << " " << b[i];
            ASSERT_EQ(r == 3 || r == 5 || r == 36, a[i] != a[i]) << n;
          }
        };
        same(y, softmax(at(x), 1));
        same(l, log_softmax(at(x), 1));
        same(dy, _softmax_backward_data(at(g), at(y), 1, t));
        same(dl, _log_softmax_backward_data(at(g), at(l), 1, t));
      }
    }
  }
}

TEST(Softmax, LargeNumbersDoNotOverflow) {
  const Tensor x = tensor({1000.0, 1000.0, -1000.0}, kFloat);
  EXPECT_EQ(values(softmax(x, 0)), (Values{0.5, 0.5, 0}));
  EXPECT_NEAR(values(log_softmax(x, 0))[0], -std::log(2.0), 1e-6);
}

TEST(Softmax, NanSpreads) {
  const Tensor x = tensor({1.0, static_cast<double>(NAN)}, kFloat);
  for (const double v : values(softmax(x, 0))) EXPECT_TRUE(std::isnan(v));
}

TEST(Softmax, EmptyAndWithoutDims) {
  EXPECT_EQ(softmax(ones({0, 3}), 1).numel(), 0);
  EXPECT_EQ(softmax(ones({3, 0}), 1).numel(), 0);
  EXPECT_EQ(values(softmax(tensor(5.0), 0)), (Values{1}));
  SY_EXPECT_ERROR(softmax(ones({3}), 1), IndexError, "[-1, 0]");
  SY_EXPECT_ERROR(softmax(ones({3}, kLong), 0), ValueError, "_softmax");
}

TEST(Softmax, Backward) {
  manual_seed(2);
  for (const int64_t n : {10, 100}) {
    for (const int64_t dim : {0, 1}) {
      const Tensor x = randn({n, n + 1}, kDouble);
      const Tensor g = randn({n, n + 1}, kDouble);
      const Tensor y = softmax(x, dim);
      expect_near(_softmax_backward_data(g, y, dim, kDouble),
                  (g - sum(g * y, {dim}, true)) * y, 1e-12);
      expect_near(_log_softmax_backward_data(g, log(y), dim, kDouble),
                  g - y * sum(g, {dim}, true), 1e-12);
    }
  }
}

}  // namespace
}  // namespace sy::families
