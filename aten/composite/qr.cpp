#include "aten/engine/dims.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "aten/contract/linalg.h"
#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/qr.h"
#include "aten/ops/qr_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/spectral.h"
#include "aten/ops/unique.h"

namespace sy::composite {

namespace {

// triu, column-major.
Tensor upper(const Tensor& t) { return t.mT().tril().mT(); }

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode) {
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const auto [h, tau] = geqrf(A);
  if (mode == "r") {
    return {empty(IntArrayRef(int64_t{0}), A.options()),
            upper(h.narrow(-2, 0, k))};
  }
  if (mode == "reduced" || m <= n) {
    return {linalg_householder_product(h.narrow(-1, 0, k), tau),
            upper(h.narrow(-2, 0, k))};
  }
  Dims sizes(A.sizes());
  sizes[A.dim() - 1] = m - n;
  const Tensor square = cat({h, zeros(sizes, A.options())}, -1);
  return {linalg_householder_product(square, tau), upper(h)};
}

namespace {

// Products of reflections, and least squares by singular values: for backends
// that have no kernels of their own for them.

// (1 - tau v v^T) c, where v is column k of `a` from its diagonal on, 1 there.
Tensor reflected(const Tensor& a, const Tensor& tau, int64_t k,
                 const Tensor& c) {
  const int64_t m = a.size(-2);
  const Tensor row = sy::arange(m, a.options());
  const Tensor column = a.select(-1, k);
  const Tensor v =
      sy::where(row < k, Scalar(0), sy::where(row.eq(k), Scalar(1), column))
          .unsqueeze(-1);
  const Tensor by = tau.select(-1, k).unsqueeze(-1).unsqueeze(-1);
  return c - by * v * sy::matmul(v.mT(), c);
}

// All reflections, the last one first, or the first one first.
Tensor all_reflected(const Tensor& a, const Tensor& tau, Tensor c,
                     bool first_first) {
  const int64_t n = tau.size(-1);
  for (int64_t i = 0; i < n; ++i) {
    c = reflected(a, tau, first_first ? i : n - 1 - i, c);
  }
  return c;
}

void check_finite(const char* argument, const Tensor& t) {
  SY_CHECK(t.isfinite().all().item<bool>(), Value,
           "[linalg_lstsq] {}: expected finite elements, got NaN or infinity",
           argument);
}

// The part of A that gelsy solves by, and its rank. Each step takes the column
// that is longest without the directions before, as long as the singular values
// of the columns so far lie within rcond of one another.
std::pair<Tensor, Tensor> leading_part(const Tensor& A, double rcond) {
  const int64_t steps = std::min(A.size(-2), A.size(-1));
  Tensor rest = A, part = sy::zeros_like(A), chosen;
  Tensor counts = sy::ones(A.sizes().slice(0, A.sizes().size() - 2),
                           A.options().dtype(kBool));
  Tensor rank = sy::zeros_like(counts, kLong);
  for (int64_t k = 0; k < steps; ++k) {
    // Lengths rounded once, so that equal ones stay so: the first counts.
    const Tensor lengths =
        sy::square(rest.to(kDouble)).sum({-2}).sqrt().to(A.scalar_type());
    const Tensor place = sy::argmax(lengths, -1, true).unsqueeze(-2);
    const auto column = [&](const Tensor& t) {
      Dims sizes(t.sizes());
      sizes[t.dim() - 1] = 1;
      return t.gather(-1, place.expand(IntArrayRef(sizes)));
    };
    chosen = k == 0 ? column(A) : sy::cat({chosen, column(A)}, -1);
    const Tensor s = sy::linalg_svdvals(chosen);
    const Tensor most = s.select(-1, 0), least = s.select(-1, -1);
    const Tensor within =
        k == 0 ? most > 0 : sy::logical_and(least > 0, least >= most * rcond);
    counts = sy::logical_and(counts, within);
    const Tensor direction = column(rest);
    const Tensor length = sy::square(direction).sum({-2}, true).sqrt();
    const Tensor q = sy::where(length.eq(0), Scalar(0), direction / length);
    const Tensor along = q * sy::matmul(q.mT(), rest);
    rest = rest - along;
    const Tensor taken = counts.unsqueeze(-1).unsqueeze(-1);
    part = part + sy::where(taken, along, Scalar(0));
    rank = rank + counts.to(kLong);
  }
  return {part, rank};
}

}  // namespace

Tensor householder_product_by_bmm(const Tensor& input, const Tensor& tau) {
  const Tensor eye = sy::eye(input.size(-2), input.size(-1), input.options());
  return all_reflected(input, tau, eye.expand(input.sizes()).clone(), false);
}

Tensor ormqr_by_bmm(const Tensor& self, const Tensor& input2,
                    const Tensor& input3, bool left, bool transpose) {
  if (left) return all_reflected(self, input2, input3.clone(), transpose);
  return all_reflected(self, input2, input3.mT(), !transpose).mT().clone();
}

// Solves by the pseudo-inverse. The driver says what counts as 0, and what else
// comes.
std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq_by_svd(
    const Tensor& self, const Tensor& b, std::optional<double> rcond,
    std::optional<std::string_view> driver) {
  const bool vector = is_vector_beside(self, b);
  const Tensor rhs = vector ? b.unsqueeze(-1) : b;
  const auto batch_of = [](const Tensor& t) {
    return t.sizes().slice(0, t.sizes().size() - 2);
  };
  Dims batch = broadcast_sizes("linalg_lstsq", batch_of(self), batch_of(rhs));
  check_finite("self", self);
  check_finite("b", b);
  const std::string_view name = driver.value_or("gelsy");
  const int64_t m = self.size(-2), n = self.size(-1);
  const double epsilon = self.scalar_type() == kDouble
                             ? std::numeric_limits<double>::epsilon()
                             : std::numeric_limits<float>::epsilon();
  const double least =
      rcond.value_or(epsilon * static_cast<double>(std::max(m, n)));

  Dims sizes(batch);
  sizes.push_back(m);
  sizes.push_back(n);
  Tensor A = self.expand(IntArrayRef(sizes));
  auto [U, S, Vh] = sy::linalg_svd(A, false);
  Tensor kept = S > S.narrow(-1, 0, std::min<int64_t>(1, S.size(-1))) * least;
  if (name == "gels") kept = S > 0;
  Tensor ranks = kept.sum({-1});
  if (name == "gelsy" && !kept.all().item<bool>()) {
    std::tie(A, ranks) = leading_part(A, least);
    std::tie(U, S, Vh) = sy::linalg_svd(A, false);
    kept = sy::arange(S.size(-1), ranks.options()) < ranks.unsqueeze(-1);
  }
  const Tensor inverse = sy::where(kept, 1 / S, Scalar(0)).unsqueeze(-1);
  const Tensor x = sy::matmul(Vh.mT(), inverse * sy::matmul(U.mT(), rhs));

  const Tensor none = sy::empty({0}, self.options());
  Tensor residuals = none, values = none;
  Tensor rank = sy::empty({0}, self.options().dtype(kLong));
  if (name != "gels") rank = ranks;
  if (name == "gelsd" || name == "gelss") values = S;
  const bool full = name == "gels" || ranks.eq(n).all().item<bool>();
  if (m > n && full && name != "gelsy") {
    residuals = sy::square(sy::matmul(self, x) - rhs).sum({-2});
  }
  return {vector ? x.squeeze(-1) : x, residuals, rank, values};
}

}  // namespace sy::composite
