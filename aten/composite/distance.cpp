#include <cmath>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "aten/ops/distance_kernels.h"

// s = sign(d) |d|^(p-1) D^(1-p) is the slope of the distance D by a difference
// d. Of g s, for G by each element: those by g, d and D.

namespace sy::composite {

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
  const Tensor zero = logical_or(far.eq(Scalar(0)), d.eq(Scalar(0)));
  const Tensor size = where(zero, Scalar(1), abs(d));
  const Tensor safe = where(far.eq(Scalar(0)), Scalar(1), far);
  const Tensor scale = pow(safe, Scalar(1 - p));
  const Tensor s =
      where(zero, Scalar(0), sign(d) * pow(size, Scalar(p - 1)) * scale);
  const Tensor by_grad = (G * s).sum({-1});
  const Tensor curve =
      p == 2 ? where(far.eq(Scalar(0)), Scalar(0), scale)
             : where(zero, Scalar(0), pow(size, Scalar(p - 2)) * scale);
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

}  // namespace sy::composite
