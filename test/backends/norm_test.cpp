#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "autograd/api.h"
#include "test/backends/device.h"

// Norms whose parts are out of the dtype's range though they are not: large and
// small p, large and small elements. They vary p, the scale, the dtype and the
// operator that the norm stands in. A norm is that of the elements divided by
// the greatest, times the greatest, in float64. They never vary the device.

namespace sy::families {
namespace {

using Numbers = std::vector<double>;

double right(const Numbers& x, double p) {
  double m = p > 0 ? 0 : std::numeric_limits<double>::infinity();
  for (const double v : x) {
    m = p > 0 ? std::max(m, std::abs(v)) : std::min(m, std::abs(v));
  }
  if (m == 0) return 0;
  double sum = 0;
  for (const double v : x) sum += std::pow(std::abs(v) / m, p);
  return m * std::pow(sum, 1 / p);
}

const Numbers kRow = {1.5, -2.25, 3.0, 0.5, -1.25, 2.0};

void expect_close(const Tensor& got, double wanted, const std::string& what) {
  const double eps = got.scalar_type() == kDouble  ? 1e-13
                     : got.scalar_type() == kFloat ? 2e-6
                     : got.scalar_type() == kHalf  ? 2e-3
                                                   : 1e-2;
  EXPECT_NEAR(got.item<double>() / wanted, 1, eps) << what;
}

TEST(Norm, OfAnyOrderAndScale) {
  using Limits = std::numeric_limits<double>;
  for (const ScalarType d : {kDouble, kFloat, kHalf, kBFloat16}) {
    const double far = d == kDouble ? 1e300 : d == kHalf ? 1e3 : 1e36;
    const double near = d == kDouble ? 1e-300 : d == kHalf ? 1e-3 : 1e-36;
    for (const double scale : {1.0, far, near}) {
      for (const double p :
           {0.5, 1.5, 2.0, 3.0, 7.5, 90.0, 1000.0, -0.5, -2.0, -90.0}) {
        Numbers row;
        const Tensor x = (tensor(kRow, kDouble) * scale).to(d);
        for (int64_t i = 0; i < x.numel(); ++i) {
          row.push_back(x[i].item<double>());
        }
        const double r = right(row, p);
        if (!(r < (d == kDouble ? Limits::max() : d == kHalf ? 65504 : 3e38))) {
          continue;
        }
        const std::string what = str("p {} of {} times {}", p, d, scale);
        expect_close(linalg_vector_norm(x, p), r, what);
        expect_close(norm(x, p), r, what);
        expect_close(
            linalg_vector_norm(x.reshape({2, 3}), p, {0, 1}, true).reshape({}),
            r, what);
        expect_close(linalg_vector_norm(x.unsqueeze(0), p, {1})[0], r, what);
        expect_close(dist(x, zeros_like(x), p), r, what);
        expect_close(_foreach_norm({x}, p)[0], r, what);
        expect_close(pairwise_distance(x, zeros_like(x), p, 0), r, what);
        if (p > 0 && (d == kDouble || d == kFloat)) {
          const Tensor rows = stack({x, zeros_like(x)});
          expect_close(cdist(rows, rows, p)[0][1], r, what);
          expect_close(pdist(rows, p)[0], r, what);
          const Tensor many = x.unsqueeze(0).expand({30, 6});
          expect_close(cdist(many, zeros_like(many), p)[7][9], r, what);
        }
      }
    }
  }
}

TEST(Norm, OfZerosAndInfinities) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const ScalarType d : {kDouble, kFloat}) {
    for (const double p : {0.5, 2.0, 3.0, 90.0}) {
      EXPECT_EQ(norm(zeros({3}, d), p).item<double>(), 0);
      EXPECT_EQ(norm(zeros({0}, d), p).item<double>(), 0);
      EXPECT_EQ(linalg_vector_norm(zeros({2, 0}, d), p, {1}).sizes(),
                IntArrayRef({2}));
      EXPECT_EQ(norm(tensor(Numbers{1, -inf}, d), p).item<double>(), inf);
      for (const double beside : {2.0, inf, 0.0}) {
        const Tensor x = tensor(Numbers{beside, NAN, 1}, d);
        EXPECT_TRUE(std::isnan(norm(x, p).item<double>())) << beside;
      }
    }
    EXPECT_EQ(norm(tensor(Numbers{1, 0}, d), -2).item<double>(), 0);
    EXPECT_EQ(norm(tensor(Numbers{2, inf}, d), -2).item<double>(), 2);
  }
}

TEST(Norm, GradientsOfLargeOrders) {
  const auto gradient = [](const std::function<Tensor(const Tensor&)>& f,
                           const Numbers& at, ScalarType d) {
    const Tensor x = tensor(at, kDouble).to(d).requires_grad_();
    f(x).sum().backward();
    return x.grad().to(kDouble);
  };
  for (const ScalarType d : {kDouble, kFloat}) {
    const double big = d == kDouble ? 1e200 : 1e30;
    for (const double scale : {1.0, big, 1 / big}) {
      const Numbers at = {1 * scale, 3 * scale, 2 * scale};
      for (const double p : {2.0, 3.0, 90.0, 1000.0}) {
        const double n = right({1, 3, 2}, p);
        const Tensor wanted =
            tensor(Numbers{std::pow(1 / n, p - 1), std::pow(3 / n, p - 1),
                           std::pow(2 / n, p - 1)},
                   kDouble);
        const auto check = [&](const char* name, const Tensor& g) {
          EXPECT_TRUE(g.flatten().allclose(wanted, 1e-4, 1e-6))
              << name << ", p " << p << " of " << d << " times " << scale;
        };
        check("norm",
              gradient([&](const Tensor& x) { return norm(x, p); }, at, d));
        check("cdist", gradient(
                           [&](const Tensor& x) {
                             const Tensor row = x.unsqueeze(0);
                             return cdist(row, zeros_like(row), p);
                           },
                           at, d));
      }
    }
  }
  // The second order too.
  const Tensor x = tensor(Numbers{1, 3, 2}, kFloat).requires_grad_();
  for (const double p : {2.0, 90.0}) {
    const Tensor row = x.unsqueeze(0);
    const Tensor g = autograd::grad({cdist(row, zeros_like(row).detach(), p)},
                                    {x}, {}, true, true)[0];
    EXPECT_TRUE(autograd::grad({g.sum()}, {x}, {}, true)[0]
                    .isfinite()
                    .all()
                    .item<bool>());
  }
}

TEST(Norm, WhatIsMadeOfNorms) {
  for (const double s : {1.0, 3e-30, 3e30}) {
    const Tensor x = full({2}, s, kFloat);
    EXPECT_NEAR(cosine_similarity(x, x, 0, 0).item<double>(), 1, 1e-6) << s;
    const Tensor m = full({2, 2}, s, kFloat);
    // renorm adds 1e-7 to the norm, as PyTorch's does.
    if (s >= 1) {
      EXPECT_NEAR((renorm(m, 90, 0, s / 2) / s).max().item<double>(),
                  0.5 / std::pow(2, 1 / 90.0), 1e-3)
          << s;
    }
    EXPECT_NEAR((linalg_matrix_norm(m) / s).item<double>(), 2, 1e-5) << s;
  }
  EXPECT_EQ(softplus(tensor({90.0f}), 1, 100).item<float>(), 90);
  EXPECT_EQ(softplus(tensor({-90.0f}), -1, 100).item<float>(), -90);
  EXPECT_EQ(softplus(tensor({800.0}, kDouble), 1, 1000).item<double>(), 800);
  const Tensor x = tensor({0.0, 90.0}, kDouble).requires_grad_();
  softplus(x, 1, 1000).sum().backward();
  EXPECT_EQ(x.grad()[0].item<double>(), 0.5);
  EXPECT_EQ(x.grad()[1].item<double>(), 1);
}

}  // namespace
}  // namespace sy::families
