// Distances between vectors, made of norms of differences: for backends that
// have no kernels of their own for them.

#include <cmath>
#include <utility>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/distance.h"
#include "aten/ops/distance_kernels.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/math.h"
#include "aten/ops/norm.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"

namespace sy::composite {

namespace {

// From so many rows on products of matrices are faster, as in ATen.
constexpr int64_t kRowsForProducts = 25;

// Along the last dim; of no elements 0.
Tensor norm_of(const Tensor& differences, double p) {
  if (differences.size(-1) == 0) return sy::sum(differences, {-1});
  return sy::linalg_vector_norm(differences, Scalar(p), {-1});
}

// How the p-norms, with one more dim of 1, change with each difference.
Tensor slopes(const Tensor& differences, const Tensor& norms, double p) {
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

// Of the pairs of rows i < j of a matrix, in the order of pdist.
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
  return sy::sum(grad_output.unsqueeze(-1) * slopes(d, cdist.unsqueeze(-1), p),
                 {-2});
}

Tensor pdist_by_norm(const Tensor& self, double p) {
  return norm_of(Pairs(self).differences, p);
}

Tensor pdist_backward_by_slope(const Tensor& grad_output, const Tensor& self,
                               double p, const Tensor& pdist) {
  const Pairs pairs(self);
  const Tensor g = grad_output.unsqueeze(-1) *
                   slopes(pairs.differences, pdist.unsqueeze(-1), p);
  return sy::zeros_like(self)
      .index_add(0, pairs.first, g)
      .index_add(0, pairs.second, -g);
}

}  // namespace sy::composite
