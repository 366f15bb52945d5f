#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/lu.h"
#include "aten/ops/matrix_functions.h"
#include "aten/ops/matrix_functions_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/unique.h"
#include "aten/tensor_new.h"

namespace sy::composite {

namespace {

// The largest 1-norms up to which a Taylor polynomial of that degree, written
// as one of degree `steps` in the `steps`-th power, is exact to the rounding of
// the dtype: Bader, Blanes, Casas, Computing the Matrix Exponential with an
// Optimized Taylor Polynomial Approximation, 2019; Al-Mohy, Higham, Computing
// the Action of the Matrix Exponential, 2011.
struct Degree {
  int degree, steps;
  double float_limit, double_limit;
};
constexpr Degree kDegrees[] = {
    {4, 2, 5.1e-2, 3.3e-4}, {9, 3, 5.8e-1, 4.9e-2}, {16, 4, 2.2, 6.4e-1}};

// The 1-norm of each matrix; infinite or NaN where an element is.
std::vector<double> norms_of(const Tensor& a) {
  const Tensor norms = sy::amax(sy::abs(a).sum({1}), {1});
  const Tensor host = norms.to(kDouble).to(Device(kCPU)).contiguous();
  const auto* const p = host.const_data_ptr<double>();
  return {p, p + host.numel()};
}

// The series up to that degree, by Paterson and Stockmeyer's scheme.
Tensor taylor(const Tensor& a, const Degree& d) {
  std::vector<Tensor> powers{a};
  for (int k = 1; k < d.steps; ++k) powers.push_back(sy::bmm(powers.back(), a));
  std::vector<double> c{1};
  for (int k = 1; k <= d.degree; ++k) c.push_back(c.back() / k);
  const auto factor = [&](int k) { return c[static_cast<size_t>(k)]; };
  Tensor sum;
  for (int top = d.degree - d.steps; top >= 0; top -= d.steps) {
    // c[top] + c[top + 1] a + … , the highest power only at first.
    Tensor part = powers[0] * factor(top + 1);
    for (int k = 2; k < d.steps; ++k) {
      part = sy::add(part, powers[static_cast<size_t>(k - 1)],
                     Scalar(factor(top + k)));
    }
    part.diagonal(0, 1, 2).add_(Scalar(factor(top)));
    if (!sum.defined()) {
      sum = sy::add(part, powers.back(), Scalar(factor(d.degree)));
    } else {
      sum = sy::add(part, sy::bmm(sum, powers.back()));
    }
  }
  return sum;
}

}  // namespace

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  SY_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2), Value,
           "[linalg_matrix_power] self: expected square matrices, got sizes {}",
           self.sizes());
  const auto product = [](const Tensor& a, const Tensor& b) {
    return a.dim() == 2 ? mm(a, b) : matmul(a, b);
  };
  if (n == 0) {
    // A copy that is overwritten: autograd sees that it is no constant.
    return self.clone().copy_(eye(self.size(-1), self.options()));
  }
  Tensor power = n < 0 ? linalg_inv(self) : self;
  auto left = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  Tensor result;
  while (true) {
    if ((left & 1) != 0) {
      result = result.defined() ? product(result, power) : power;
    }
    left >>= 1;
    if (left == 0) break;
    power = product(power, power);
  }
  return result.is_same(self) ? self.clone() : result;
}

Tensor matrix_exp_by_series(const Tensor& self) {
  if (self.numel() == 0) return sy::empty(self.sizes(), self.options());
  const int64_t n = self.size(-1);
  Tensor a = widened(self).reshape({-1, n, n});
  const std::vector<double> norms = norms_of(a);
  double most = 0;
  for (const double v : norms) {
    most = std::isfinite(v) ? std::max(most, v) : most;
  }
  const bool single = a.scalar_type() == kFloat;
  const auto limit = [&](const Degree& d) {
    return single ? d.float_limit : d.double_limit;
  };
  const Degree* degree = kDegrees;
  const Degree* const last = std::end(kDegrees) - 1;
  while (degree < last && most > limit(*degree)) ++degree;

  // exp(a) = exp(a / 2^s)^(2^s), s for each matrix by its own norm.
  std::vector<double> scales;
  std::vector<int64_t> squarings;
  for (const double v : norms) {
    const bool far = std::isfinite(v) && v > limit(*degree);
    // v is halved, for the largest numbers over a limit below 1 are infinite.
    const double over = far ? 1 + std::log2(v / 2 / limit(*degree)) : 0;
    const int s = static_cast<int>(std::ceil(over));
    squarings.push_back(s);
    scales.push_back(std::ldexp(1.0, -s));
  }
  const int64_t rounds = *std::max_element(squarings.begin(), squarings.end());
  const auto column = [&](const auto& values, ScalarType dtype) {
    return sy::tensor(values, dtype).to(a.device()).reshape({-1, 1, 1});
  };
  if (rounds > 0) a = a * column(scales, kDouble).to(a.scalar_type());
  Tensor x = taylor(a, *degree);
  const Tensor wanted = column(squarings, kLong);
  for (int64_t k = 0; k < rounds; ++k) {
    x = sy::where(wanted.gt(Scalar(k)), sy::bmm(x, x), x);
  }
  return x.reshape(self.sizes()).to(self.scalar_type());
}

}  // namespace sy::composite
