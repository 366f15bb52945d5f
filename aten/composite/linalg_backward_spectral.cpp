#include "aten/operators.h"
#include "aten/ops/cholesky.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/linalg_backward.h"
#include "aten/ops/linalg_backward_kernels.h"
#include "aten/ops/rearranging.h"
#include "aten/ops/shape.h"

// The gradients of factors with orthonormal columns. The changes of such a
// factor U lie in the skew part of U^T dU and outside of U.

namespace sy::composite {

namespace {

// A gradient that nothing flows into is left out: taking zeros along would make
// NaN of 0 / 0 where singular values or eigenvalues are equal.
using MaybeTensor = std::optional<Tensor>;

bool given(const MaybeTensor& t) { return t && t->defined(); }

void check_any(const char* op, bool any) {
  SY_CHECK(any, Value,
           "[{}] expected the gradient of at least one factor, got none", op);
}

// The sum of the tensors that are given.
Tensor sum_of(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a + b : a;
}

Tensor skew(const Tensor& t) { return t - t.mT(); }

// l[j] - l[i], and 1 on the diagonal.
Tensor gaps(const Tensor& l) {
  return l.unsqueeze(-2) - l.unsqueeze(-1) + eye(l.size(-1), l.options());
}

// The part of t that is orthogonal to the columns of q.
Tensor outside(const Tensor& q, const Tensor& t) {
  return t - matmul(q, matmul(q.mT(), t));
}

// A reflection 1 - tau v v^T, v being 0 above place i and 1 there.
struct Reflection {
  Tensor below, v, tau;

  Reflection(const Tensor& input, const Tensor& taus, int64_t i) {
    const int64_t m = input.size(-2);
    const Tensor places = arange(Scalar(m), input.options().dtype(kLong));
    below = places.gt(Scalar(i)).to(input.dtype()).unsqueeze(-1);
    const Tensor one = places.eq(Scalar(i)).to(input.dtype()).unsqueeze(-1);
    v = input.narrow(-1, i, 1) * below + one;
    tau = taus.narrow(-1, i, 1).unsqueeze(-1);
  }
  Tensor operator()(const Tensor& t) const {
    return t - tau * matmul(v, matmul(v.mT(), t));
  }
};

}  // namespace

Tensor svd_backward(const MaybeTensor& grad_U, const MaybeTensor& grad_S,
                    const MaybeTensor& grad_Vh, const Tensor& U,
                    const Tensor& S, const Tensor& Vh, bool full_matrices,
                    bool compute_uv) {
  SY_CHECK(
      compute_uv, Value,
      "[linalg_svd] compute_uv: expected True to differentiate, got False");
  const int64_t k = S.size(-1), m = U.size(-2), n = Vh.size(-1);
  const auto columns = [&](const Tensor& t) {
    return full_matrices ? t.narrow(-1, 0, k) : t;
  };
  const auto rows = [&](const Tensor& t) {
    return full_matrices ? t.narrow(-2, 0, k) : t;
  };
  const Tensor u = columns(U), vh = rows(Vh);
  const bool has_u = given(grad_U), has_v = given(grad_Vh);
  if (!has_u && !has_v) {
    check_any("_svd_backward", given(grad_S));
    return matmul(u * grad_S->unsqueeze(-2), vh);
  }
  const Tensor e = gaps(S * S);
  const Tensor s_rows = S.unsqueeze(-1), s_columns = S.unsqueeze(-2);
  Tensor inner = given(grad_S) ? diag_embed(*grad_S) : Tensor();
  Tensor gu, gvh;
  if (has_u) {
    gu = columns(*grad_U);
    inner = sum_of(inner, skew(matmul(u.mT(), gu)) / e * s_columns);
  }
  if (has_v) {
    gvh = rows(*grad_Vh);
    inner = sum_of(inner, s_rows * (skew(matmul(vh, gvh.mT())) / e));
  }
  Tensor g = matmul(u, inner);
  if (has_u && m > k) g = g + outside(u, gu / s_columns);
  g = matmul(g, vh);
  if (has_v && n > k) {
    const Tensor beyond = outside(vh.mT(), (gvh / s_rows).mT());
    g = g + matmul(u, beyond.mT());
  }
  return g;
}

Tensor eigh_backward(const MaybeTensor& grad_L, const MaybeTensor& grad_V,
                     const Tensor& L, const Tensor& V, bool compute_v) {
  SY_CHECK(
      compute_v, Value,
      "[linalg_eigh] compute_v: expected True to differentiate, got False");
  if (!given(grad_V)) {
    check_any("_eigh_backward", given(grad_L));
    return matmul(V * grad_L->unsqueeze(-2), V.mT());
  }
  const Tensor mixed = matmul(V.mT(), *grad_V) / gaps(L);
  Tensor along = -mixed.diagonal(0, -2, -1);
  if (given(grad_L)) along = along + *grad_L;
  return matmul(V, matmul(mixed + diag_embed(along), V.mT()));
}

// Walter, Lehmann, Algorithmic Differentiation of Linear Algebra Functions with
// Application in Optimum Experimental Design, 2010.
Tensor qr_backward(const MaybeTensor& grad_Q, const MaybeTensor& grad_R,
                   const Tensor& Q, const Tensor& R, std::string_view mode) {
  SY_CHECK(
      mode != "r", Value,
      "[linalg_qr] mode: expected reduced or complete to differentiate, got r");
  const int64_t m = Q.size(-2), k = Q.size(-1), n = R.size(-1);
  SY_CHECK(k <= n, Value,
           "[linalg_qr] mode: expected reduced to differentiate a matrix of "
           "more rows than columns, got {}",
           mode);
  const bool has_q = given(grad_Q), has_r = given(grad_R);
  check_any("_qr_backward", has_q || has_r);
  const Tensor gQ = has_q ? *grad_Q : Tensor();
  if (m < n) {
    // A is [X Y]: X is Q U, and V is Q^T Y.
    const Tensor U = R.narrow(-1, 0, k), V = R.narrow(-1, k, n - k);
    if (!has_r) {
      return cat({qr_backward(gQ, {}, Q, U, mode), zeros_like(V)}, -1);
    }
    const Tensor gU = grad_R->narrow(-1, 0, k);
    const Tensor gV = grad_R->narrow(-1, k, n - k);
    const Tensor more = sum_of(gQ, matmul(matmul(Q, V), gV.mT()));
    return cat({qr_backward(more, gU, Q, U, mode), matmul(Q, gV)}, -1);
  }
  const Tensor low = sum_of(has_r ? matmul(R, grad_R->mT()) : Tensor(),
                            has_q ? -matmul(gQ.mT(), Q) : Tensor())
                         .tril();
  const Tensor both = low + low.tril(-1).mT();
  return linalg_solve_triangular(R.mT(), sum_of(gQ, matmul(Q, both)), false,
                                 false);
}

std::tuple<Tensor, Tensor> householder_product_backward(const Tensor& grad,
                                                        const Tensor& input,
                                                        const Tensor& tau) {
  const int64_t m = input.size(-2), n = input.size(-1), k = tau.size(-1);
  // Product i: the reflections from i on, applied to the identity.
  std::vector<Tensor> products(static_cast<size_t>(k + 1));
  std::vector<Reflection> reflections;
  for (int64_t i = 0; i < k; ++i) reflections.emplace_back(input, tau, i);
  products[static_cast<size_t>(k)] =
      eye(m, grad.size(-1), grad.options()).expand(grad.sizes());
  for (size_t i = static_cast<size_t>(k); i-- > 0;) {
    products[i] = reflections[i](products[i + 1]);
  }
  std::vector<Tensor> g_columns, g_taus;
  Tensor g = grad;
  for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
    const Reflection& h = reflections[i];
    const Tensor p = matmul(h.v.mT(), products[i + 1]);
    const Tensor q = matmul(h.v.mT(), g);
    g_taus.push_back(-(p * q).sum({-1}));
    const Tensor gv = -(matmul(g, p.mT()) + matmul(products[i + 1], q.mT()));
    g_columns.push_back(gv * h.tau * h.below);
    g = g - h.tau * matmul(h.v, q);
  }
  if (k == 0) return {zeros_like(input), zeros_like(tau)};
  if (n > k) g_columns.push_back(zeros_like(input.narrow(-1, k, n - k)));
  return {cat(g_columns, -1), cat(g_taus, -1)};
}

std::tuple<Tensor, Tensor> ormqr_backward(const Tensor& grad,
                                          const Tensor& self, const Tensor& tau,
                                          const Tensor& other, bool left,
                                          bool transpose) {
  const Tensor gQ =
      left ? matmul(transpose ? other : grad, (transpose ? grad : other).mT())
           : matmul((transpose ? grad : other).mT(), transpose ? other : grad);
  return sy::_householder_product_backward(gQ, self, tau);
}

}  // namespace sy::composite
