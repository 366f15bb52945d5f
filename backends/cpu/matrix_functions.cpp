#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/copy.h"
#include "aten/operators.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/linalg.h"
#include "aten/ops/view.h"
#include "backends/cpu/matrix_functions_kernels_gen.h"

namespace sy::cpu {

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

// Of each matrix; infinite or NaN where an element is.
template <class T>
std::vector<double> norms_of(const Tensor& a) {
  const int64_t n = a.size(1);
  std::vector<double> norms(static_cast<size_t>(a.size(0)));
  std::vector<double> columns(static_cast<size_t>(n));
  const T* x = static_cast<const T*>(a.data_ptr());
  for (double& norm : norms) {
    std::fill(columns.begin(), columns.end(), 0.0);
    for (int64_t i = 0; i < n; ++i, x += n) {
      for (int64_t j = 0; j < n; ++j) {
        columns[static_cast<size_t>(j)] += std::abs(static_cast<double>(x[j]));
      }
    }
    norm = 0;
    for (const double c : columns) norm = c > norm || c != c ? c : norm;
  }
  return norms;
}

Tensor times(const Tensor& t, double c) { return mul(t, Scalar(c)); }

// The series up to that degree, by Paterson and Stockmeyer's scheme.
Tensor taylor(const Tensor& a, const Degree& d) {
  std::vector<Tensor> powers{a};
  for (int k = 1; k < d.steps; ++k) powers.push_back(bmm(powers.back(), a));
  std::vector<double> c{1};
  for (int k = 1; k <= d.degree; ++k) c.push_back(c.back() / k);
  const auto factor = [&](int k) { return c[static_cast<size_t>(k)]; };
  Tensor sum;
  for (int top = d.degree - d.steps; top >= 0; top -= d.steps) {
    // c[top] + c[top + 1] a + … , the highest power only at first.
    Tensor part = times(powers[0], factor(top + 1));
    for (int k = 2; k < d.steps; ++k) {
      part = add(part, powers[static_cast<size_t>(k - 1)],
                 Scalar(factor(top + k)));
    }
    part.diagonal(0, 1, 2).add_(Scalar(factor(top)));
    if (!sum.defined()) {
      sum = add(part, powers.back(), Scalar(factor(d.degree)));
    } else {
      sum = add(part, bmm(sum, powers.back()));
    }
  }
  return sum;
}

}  // namespace

void matrix_exp_out(const Tensor& self, const Tensor& out) {
  if (self.numel() == 0) return;
  const bool half = self.dtype() == kHalf || self.dtype() == kBFloat16;
  const ScalarType dtype = half ? kFloat : self.dtype();
  const int64_t n = self.size(-1);
  Tensor a = contiguous_cpu(self, dtype).view({self.numel() / (n * n), n, n});
  const std::vector<double> norms =
      dtype == kFloat ? norms_of<float>(a) : norms_of<double>(a);
  double most = 0;
  for (const double v : norms)
    most = std::isfinite(v) ? std::max(most, v) : most;

  const auto limit = [&](const Degree& d) {
    return dtype == kFloat ? d.float_limit : d.double_limit;
  };
  const Degree* degree = kDegrees;
  const Degree* const last = std::end(kDegrees) - 1;
  while (degree < last && most > limit(*degree)) ++degree;

  // exp(a) = exp(a / 2^s)^(2^s), s for each matrix by its own norm.
  std::vector<double> scales;
  std::vector<int64_t> squarings;
  for (const double v : norms) {
    const bool far = std::isfinite(v) && v > limit(*degree);
    const int s =
        far ? static_cast<int>(std::ceil(std::log2(v / limit(*degree)))) : 0;
    squarings.push_back(s);
    scales.push_back(std::ldexp(1.0, -s));
  }
  const int64_t rounds = *std::max_element(squarings.begin(), squarings.end());
  const auto column = [&](const void* values, ScalarType t) {
    Tensor c(make_tensor(a.sizes().slice(0, 1), t, Device(kCPU)));
    std::copy_n(static_cast<const char*>(values), c.numel() * 8,
                static_cast<char*>(c.data_ptr()));
    return c.view({-1, 1, 1});
  };
  if (rounds > 0) a = mul(a, column(scales.data(), kDouble).to(dtype));
  Tensor x = taylor(a, *degree);
  const Tensor wanted = column(squarings.data(), kLong);
  for (int64_t k = 0; k < rounds; ++k) {
    x = where(wanted.gt(Scalar(k)), bmm(x, x), x);
  }
  copy_cpu(out, x.view(self.sizes()));
}

}  // namespace sy::cpu
