#include <cmath>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/advanced_indexing.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/distance.h"
#include "aten/ops/distance_kernels.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/norm.h"
#include "aten/ops/reduction.h"
#include "aten/ops/unique.h"
#include "aten/tensor_new.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

// s = sign(d) |d|^(p-1) D^(1-p) is the slope of the distance D by a difference
// d. Slopes are the gradients of g, d and D for the gradient G of g s.

namespace {

struct Slopes {
  Tensor by_grad, by_difference, by_distance;
};

// d has one dim more than g and D, the last; G broadcasts to it.
Slopes slopes(const Tensor& G, const Tensor& g, const Tensor& d,
              const Tensor& D, double p) {
  const Tensor none = zeros_like(g);
  if (p == 0) return {none, zeros_like(d), none};
  const Tensor far = D.unsqueeze(-1);
  if (std::isinf(p)) {
    const Tensor s = sign(d) * abs(d).eq(far);
    return {(G * s).sum({-1}), zeros_like(d), none};
  }
  const Tensor together = far.eq(Scalar(0));
  const Tensor zero = logical_or(together, d.eq(Scalar(0)));
  const Tensor safe = where(together, Scalar(1), far);
  // At most 1, so that no power is out of range.
  const Tensor part = where(zero, Scalar(1), abs(d) / safe);
  // s goes smoothly through a difference of 0 if p is 2.
  const Tensor s =
      p == 2 ? where(together, Scalar(0), d / safe)
             : where(zero, Scalar(0), sign(d) * pow(part, Scalar(p - 1)));
  const Tensor by_grad = (G * s).sum({-1});
  const Tensor curve =
      p == 2 ? where(together, Scalar(0), 1 / safe)
             : where(zero, Scalar(0), pow(part, Scalar(p - 2)) / safe);
  return {by_grad, G * g.unsqueeze(-1) * curve * Scalar(p - 1),
          g * by_grad * Scalar(1 - p) / safe.squeeze(-1)};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> cdist_backward_backward(
    const Tensor& grad, const Tensor& grad_output, const Tensor& x1,
    const Tensor& x2, double p, const Tensor& cdist) {
  const Tensor d = x1.unsqueeze(-2) - x2.unsqueeze(-3);
  const Slopes by = slopes(grad.unsqueeze(-2), grad_output, d, cdist, p);
  return {by.by_grad, by.by_difference.sum({-2}), -by.by_difference.sum({-3}),
          by.by_distance};
}

std::tuple<Tensor, Tensor, Tensor> pdist_backward_backward(
    const Tensor& grad, const Tensor& grad_output, const Tensor& self, double p,
    const Tensor& pdist) {
  const int64_t n = self.size(0);
  const Tensor pairs = triu_indices(n, n, 1, self.options().dtype(kLong));
  const Tensor i = pairs.select(0, 0), j = pairs.select(0, 1);
  const auto difference = [&](const Tensor& t) {
    return t.index_select(0, i) - t.index_select(0, j);
  };
  const Slopes by =
      slopes(difference(grad), grad_output, difference(self), pdist, p);
  const Tensor g = zeros_like(self)
                       .index_add(0, i, by.by_difference)
                       .index_add(0, j, by.by_difference, Scalar(-1));
  return {by.by_grad, g, by.by_distance};
}

namespace {

// Distances between vectors, made of norms of differences: for backends that
// have no kernels of their own for them.

// Products of matrices are faster from so many rows on, as in ATen.
constexpr int64_t kRowsForProducts = 25;

// The norms along the last dim; 0 for no elements.
Tensor norm_of(const Tensor& differences, double p) {
  if (differences.size(-1) == 0) return sy::sum(differences, {-1});
  return sy::linalg_vector_norm(differences, Scalar(p), {-1});
}

// How the p-norms, with one more dim of 1, change with each difference.
Tensor slopes_of(const Tensor& differences, const Tensor& norms, double p) {
  if (p == 0) return sy::zeros_like(differences);
  const Tensor sign = sy::sign(differences);
  if (p == 1) return sign;
  const Tensor none = norms.eq(0);
  if (p == 2) return sy::where(none, Scalar(0), differences / norms);
  const Tensor lengths = sy::abs(differences);
  if (std::isinf(p)) return sy::where(lengths.eq(norms), sign, Scalar(0));
  const Tensor slope = sign * sy::pow(lengths / norms, Scalar(p - 1));
  const Tensor flat = p < 1 ? sy::logical_or(none, differences.eq(0)) : none;
  return sy::where(flat, Scalar(0), slope);
}

Tensor all_differences(const Tensor& x1, const Tensor& x2) {
  return x1.unsqueeze(-2) - x2.unsqueeze(-3);
}

// The pairs of rows i < j of a matrix, in the order of pdist.
struct Pairs {
  Tensor first, second, differences;

  explicit Pairs(const Tensor& self) {
    std::vector<int64_t> a, b;
    for (int64_t i = 0; i < self.size(0); ++i) {
      for (int64_t j = i + 1; j < self.size(0); ++j) {
        a.push_back(i);
        b.push_back(j);
      }
    }
    first = sy::tensor(a, kLong).to(self.device());
    second = sy::tensor(b, kLong).to(self.device());
    differences =
        sy::index_select(self, 0, first) - sy::index_select(self, 0, second);
  }
};

}  // namespace

// |a - b|^2 by |a|^2 + |b|^2 - 2 a b. Vectors are divided by a power of two,
// which changes nothing else, where squares might be out of range.
Tensor euclidean_dist(const Tensor& x1, const Tensor& x2) {
  const auto by_products = [](const Tensor& x, const Tensor& y) {
    const Tensor a = sy::sum(sy::square(x), {-1}, true);
    const Tensor b = sy::sum(sy::square(y), {-1}, true);
    return (a + b.mT() - sy::matmul(x, y.mT()) * 2).clamp_min(0).sqrt();
  };
  if (x1.numel() == 0 || x2.numel() == 0) return by_products(x1, x2);
  Tensor scale;
  {
    const NoGradGuard guard;
    const Tensor m = sy::maximum(sy::abs(x1).max(), sy::abs(x2).max());
    const double far = x1.scalar_type() == kDouble ? 1e140 : 1e15;
    const Tensor usual =
        sy::logical_or(sy::logical_and(m<far, m> 1 / far),
                       sy::logical_or(m.eq(0), sy::isfinite(m).logical_not()));
    scale = sy::where(usual, Scalar(1), sy::exp2(sy::floor(sy::log2(m))))
                .to(x1.scalar_type());
  }
  return by_products(x1 / scale, x2 / scale) * scale;
}

Tensor cdist_by_norm(const Tensor& x1, const Tensor& x2, double p,
                     std::optional<int64_t> compute_mode) {
  const int64_t mode = compute_mode.value_or(0);
  const bool large =
      x1.size(-2) > kRowsForProducts || x2.size(-2) > kRowsForProducts;
  if (p == 2 && x1.size(-1) > 0 && (mode == 1 || (mode == 0 && large))) {
    return sy::_euclidean_dist(x1, x2);
  }
  return norm_of(all_differences(x1, x2), p);
}

Tensor cdist_backward_by_slope(const Tensor& grad_output, const Tensor& x1,
                               const Tensor& x2, double p,
                               const Tensor& cdist) {
  const Tensor d = all_differences(x1, x2);
  return sy::sum(
      grad_output.unsqueeze(-1) * slopes_of(d, cdist.unsqueeze(-1), p), {-2});
}

Tensor pdist_by_norm(const Tensor& self, double p) {
  return norm_of(Pairs(self).differences, p);
}

Tensor pdist_backward_by_slope(const Tensor& grad_output, const Tensor& self,
                               double p, const Tensor& pdist) {
  const Pairs pairs(self);
  const Tensor g = grad_output.unsqueeze(-1) *
                   slopes_of(pairs.differences, pdist.unsqueeze(-1), p);
  return sy::zeros_like(self)
      .index_add(0, pairs.first, g)
      .index_add(0, pairs.second, -g);
}

}  // namespace sy::composite
