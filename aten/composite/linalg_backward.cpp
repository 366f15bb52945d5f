#include "aten/ops/linalg_backward.h"
#include "aten/engine/dims.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/cholesky.h"
#include "aten/ops/comparison.h"
#include "aten/ops/determinant.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/linalg_backward_kernels.h"
#include "aten/ops/lu.h"
#include "aten/ops/matrix_functions.h"
#include "aten/ops/rearranging.h"
#include "aten/ops/shape.h"
#include "aten/ops/spectral.h"
#include "aten/ops/unique.h"
#include "c10/dispatch/thread_state.h"

// For A = L U, X = A^-1 B and so on: matrix calculus with <G, dY> = <g, dA>.

namespace sy::composite {

namespace {

using MaybeTensor = std::optional<Tensor>;

bool given(const MaybeTensor& t) { return t && t->defined(); }

Tensor rows(const Tensor& t, int64_t begin, int64_t n) {
  return t.narrow(-2, begin, n);
}
Tensor columns(const Tensor& t, int64_t begin, int64_t n) {
  return t.narrow(-1, begin, n);
}

// Whether the gradients are themselves to be differentiated by `t`.
bool recorded(const Tensor& t) {
  return GradMode::is_enabled() && t.defined() && t.requires_grad();
}

// A diagonal matrix of n times the same number.
Tensor scaled_identity(const Tensor& d, int64_t n) {
  Dims sizes(d.sizes());
  sizes.push_back(n);
  return diag_embed(d.unsqueeze(-1).expand(sizes));
}

// d A^-T, by the factors that det keeps: those of the transpose if A is
// contiguous.
Tensor times_inverse(const Tensor& d, const Tensor& A, const Tensor& LU,
                     const Tensor& pivots) {
  if (recorded(A)) {
    const Tensor inverse = std::get<0>(linalg_inv_ex(A));
    return inverse.mT() * d.unsqueeze(-1).unsqueeze(-1);
  }
  return linalg_lu_solve(LU, pivots, scaled_identity(d, A.size(-1)), true,
                         !A.is_contiguous());
}

// The sign of the exchanges of rows.
Tensor parity(const Tensor& pivots, ScalarType dtype) {
  const int64_t n = pivots.size(-1);
  const Tensor order = arange(Scalar(1), Scalar(n + 1), pivots.options());
  const Tensor odd = ne(pivots, order).sum({-1}) % Scalar(2);
  return (odd * Scalar(-2) + Scalar(1)).to(dtype);
}

// X and B of an equation: a vector is a matrix of one column.
struct Sides {
  bool vector;
  Tensor matrix(const Tensor& t) const { return vector ? t.unsqueeze(-1) : t; }
  Tensor back(const Tensor& t) const { return vector ? t.squeeze(-1) : t; }
};

}  // namespace

Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU,
                          const Tensor& pivots) {
  const auto [P, L, U] = sy::lu_unpack(LU, pivots);
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  const Tensor gL = columns(grad, 0, k), gU = rows(grad, 0, k);
  const Tensor L1 = rows(L, 0, k), U1 = columns(U, 0, k);
  Tensor low = matmul(L1.mT(), rows(gL, 0, k).tril(-1));
  Tensor high = matmul(columns(gU, 0, k).triu(), U1.mT());
  const auto by_L = [&](const Tensor& t) {
    return linalg_solve_triangular(L1.mT(), t, true, true, true);
  };
  const auto by_U = [&](const Tensor& t) {
    return linalg_solve_triangular(U1.mT(), t, false, false);
  };
  // The part beside U1 is L1^-1 of its columns; that below L1, its rows by
  // U1^-1.
  Tensor rest;
  if (m < n) {
    const Tensor U2 = columns(U, k, n - k), gU2 = columns(gU, k, n - k);
    low = low - matmul(gU2, U2.mT());
    rest = by_L(gU2);
  } else if (m > n) {
    const Tensor L2 = rows(L, k, m - k), gL2 = rows(gL, k, m - k);
    high = high - matmul(L2.mT(), gL2);
    rest = by_U(gL2);
  }
  Tensor g = by_L(by_U(low.tril(-1) + high.triu()));
  if (rest.defined()) g = cat({g, rest}, m < n ? -1 : -2);
  return matmul(P, g);
}

Tensor lu_solve_backward(const Tensor& grad, const Tensor& LU,
                         const Tensor& pivots, const Tensor& X, bool left,
                         bool adjoint) {
  const auto [P, L, U] = sy::lu_unpack(LU, pivots);
  const Tensor g = sy::linalg_lu_solve(LU, pivots, grad, left, !adjoint);
  // The gradient of A, where A X = B; X A = B is the same for transposes.
  const Tensor gA = left != adjoint
                        ? (left ? matmul(g, X.mT()) : matmul(g.mT(), X))
                        : (left ? matmul(X, g.mT()) : matmul(X.mT(), g));
  const Tensor gPA = -matmul(P.mT(), gA);
  return matmul(gPA, U.mT()).tril(-1) + matmul(L.mT(), gPA).triu();
}

std::tuple<Tensor, Tensor> solve_backward(const Tensor& grad, const Tensor& X,
                                          const Tensor& A, const Tensor& LU,
                                          const Tensor& pivots, bool left) {
  const Sides sides{X.dim() < A.dim()};
  const Tensor g = sides.matrix(grad), x = sides.matrix(X);
  const Tensor gB = recorded(A)
                        ? std::get<0>(sy::_linalg_solve_ex(A.mT(), g, left))
                        : sy::linalg_lu_solve(LU, pivots, g, left, true);
  const Tensor gA = left ? -matmul(gB, x.mT()) : -matmul(x.mT(), gB);
  return {gA, sides.back(gB)};
}

namespace {

// The determinants of what is left of A without the row and the column of each
// element, with their signs: the slopes of det A. They are polynomials, so that
// they and all their derivatives are right for any A. Takes n^4 numbers.
Tensor cofactors(const Tensor& A) {
  const int64_t n = A.size(-1);
  if (n < 2) return ones_like(A);
  const TensorOptions whole = A.options().dtype(kLong);
  // Row i: the numbers from 0 on without i.
  const Tensor up = arange(n - 1, whole).unsqueeze(0);
  const Tensor others = up + up.ge(arange(n, whole).unsqueeze(1)).to(kLong);
  const Tensor all = others.reshape({-1});
  Dims sizes(A.sizes());
  sizes.resize(sizes.size() - 2);
  for (const int64_t s : {n, n - 1, n, n - 1}) sizes.push_back(s);
  const Tensor minors = A.index_select(-2, all)
                            .index_select(-1, all)
                            .reshape(IntArrayRef(sizes))
                            .transpose(-3, -2);
  const Tensor odd =
      arange(n, whole).unsqueeze(0) + arange(n, whole).unsqueeze(1);
  const Tensor signs = (1 - fmod(odd, 2) * 2).to(A.scalar_type());
  return sy::linalg_det(minors) * signs;
}

// Whether a matrix among those with these factors has no inverse to speak of.
bool any_singular(const Tensor& LU) {
  if (LU.numel() == 0 || LU.device().type() == kMeta) return false;
  const double eps = LU.dtype() == kFloat ? 1.1920929e-07 : 2.220446e-16;
  const Tensor d = abs(LU.detach().diagonal(0, -2, -1));
  const auto n = static_cast<double>(LU.size(-1));
  return d.amin({-1}).le(d.amax({-1}) * Scalar(n * eps)).any().item().to_bool();
}

}  // namespace

Tensor det_backward(const Tensor& grad, const Tensor& det, const Tensor& A,
                    const Tensor& LU, const Tensor& pivots) {
  if (recorded(A)) {
    if (!any_singular(LU)) return times_inverse(grad * det, A, LU, pivots);
    return cofactors(A) * grad.unsqueeze(-1).unsqueeze(-1);
  }
  // det is smooth: near a singular matrix the factors are good enough.
  const double eps = A.dtype() == kFloat ? 1.1920929e-07 : 2.220446e-16;
  const Tensor diagonal = LU.diagonal(0, -2, -1);
  const Tensor zero = diagonal.eq(Scalar(0));
  const Tensor moved = where(zero, Scalar(eps), diagonal);
  const Tensor d =
      where(det.eq(Scalar(0)), moved.prod(-1) * parity(pivots, A.dtype()), det);
  return times_inverse(grad * d, A, LU + diag_embed(moved - diagonal), pivots);
}

Tensor slogdet_backward(const Tensor& grad_logabsdet, const Tensor& A,
                        const Tensor& LU, const Tensor& pivots) {
  return times_inverse(grad_logabsdet, A, LU, pivots);
}

Tensor cholesky_backward(const Tensor& grad, const Tensor& L, bool upper) {
  const Tensor l = upper ? L.mT() : L, g = upper ? grad.mT() : grad;
  const Tensor product = matmul(l.mT(), g).tril();
  const Tensor half =
      product - diag_embed(product.diagonal(0, -2, -1)) * Scalar(0.5);
  const Tensor x = linalg_solve_triangular(
      l, linalg_solve_triangular(l.mT(), half, true), false, false);
  return (x + x.mT()) * Scalar(0.5);
}

std::tuple<Tensor, Tensor> solve_triangular_backward(const Tensor& grad,
                                                     const Tensor& A,
                                                     const Tensor& X,
                                                     bool upper, bool left,
                                                     bool unitriangular) {
  const Tensor gB =
      linalg_solve_triangular(A.mT(), grad, !upper, left, unitriangular);
  const Tensor gA = left ? -matmul(gB, X.mT()) : -matmul(X.mT(), gB);
  const int64_t from = unitriangular;
  return {upper ? gA.triu(from) : gA.tril(-from), gB};
}

Tensor solve_sylvester(const Tensor& H, const Tensor& X) {
  const auto [l, q] = sy::linalg_eigh(H);
  const Tensor sums = l.unsqueeze(-1) + l.unsqueeze(-2);
  const Tensor x = matmul(q.mT(), matmul(X, q));
  const Tensor zero = sums.eq(Scalar(0));
  const Tensor y = where(zero, Scalar(0), x / where(zero, Scalar(1), sums));
  return matmul(q, matmul(y, q.mT()));
}

// A = U H. With K = U^T dA, dU is U W and what is orthogonal to U; W is skew
// and W H + H W = K - K^T; dH = K - W H.
Tensor polar_backward(const MaybeTensor& grad_U, const MaybeTensor& grad_H,
                      const Tensor& U, const Tensor& H) {
  const bool has_u = given(grad_U), has_h = given(grad_H);
  SY_CHECK(has_u || has_h, Value,
           "[_polar_backward] expected the gradient of at least one factor, "
           "got none");
  Tensor m;
  if (has_u) m = matmul(U.mT(), *grad_U);
  if (has_h) {
    const Tensor by_h = matmul(*grad_H, H);
    m = has_u ? m - by_h : -by_h;
  }
  const Tensor n = _solve_sylvester(H, m - m.mT());
  Tensor g = matmul(U, has_h ? n + *grad_H : n);
  if (has_u && U.size(-2) > U.size(-1)) {
    const Tensor outside = *grad_U - matmul(U, matmul(U.mT(), *grad_U));
    g = g + linalg_solve(H, outside, false);
  }
  return g;
}

// exp of [[A, G], [0, A]] has it in the corner: Mathias, A Chain Rule for
// Matrix Functions and Applications, 1996.
Tensor matrix_exp_differential(const Tensor& self, const Tensor& grad) {
  const int64_t n = self.size(-1);
  const Tensor above = cat({self, grad}, -1);
  const Tensor below = cat({zeros_like(self), self}, -1);
  return columns(rows(linalg_matrix_exp(cat({above, below}, -2)), 0, n), n, n);
}

std::tuple<Tensor, Tensor> lstsq_backward(const MaybeTensor& grad,
                                          const MaybeTensor& grad_residuals,
                                          const Tensor& A, const Tensor& B,
                                          const Tensor& X) {
  const Sides sides{X.dim() < A.dim()};
  const Tensor b = sides.matrix(B), x = sides.matrix(X);
  Tensor gA, gB;
  if (given(grad)) {
    const Tensor g = sides.matrix(*grad);
    const Tensor pinv =
        linalg_pinv(A, std::optional<Tensor>(), std::optional<Tensor>());
    gB = matmul(pinv.mT(), g);
    gA = _pinv_backward(matmul(g, b.mT()), pinv, A);
  }
  if (given(grad_residuals) && grad_residuals->numel() > 0) {
    // The derivative by X is 0 at the least squares.
    const Tensor r =
        (matmul(A, x) - b) * (grad_residuals->unsqueeze(-2) * Scalar(2));
    gB = gB.defined() ? gB - r : -r;
    gA = gA.defined() ? gA + matmul(r, x.mT()) : matmul(r, x.mT());
  }
  return {gA, gB.defined() ? sides.back(gB) : gB};
}

}  // namespace sy::composite
