#include "aten/ops/spectral.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/spectral_kernels.h"
#include "aten/ops/unique.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

bool recorded(const Tensor& t) {
  return GradMode::is_enabled() && t.defined() && t.requires_grad();
}

void check_matrices(const char* op, const Tensor& t) {
  SY_CHECK(t.dim() >= 2, Value, "[{}] self: expected at least two dims, got {}",
           op, t.dim());
  SY_CHECK(t.dtype() == kFloat || t.dtype() == kDouble, Type,
           "[{}] self: expected float32 or float64, got {}", op, t.dtype());
}

using Tolerance = std::optional<Tensor>;

Tolerance number(const Tensor& like, std::optional<double> v) {
  if (!v) return std::nullopt;
  return full(IntArrayRef(), Scalar(*v), like.options().dtype(kDouble));
}

bool given(const Tolerance& t) { return t && t->defined(); }

// Singular values, or eigenvalues without their signs.
Tensor sizes_of(const Tensor& A, bool hermitian) {
  return hermitian ? abs(linalg_eigvalsh(A)) : linalg_svdvals(A);
}

// The bound up to which values of each matrix count as 0, with a last dim of 1.
// rtol is by default the dtype's precision times the larger side, if atol is
// not above 0; atol is 0.
Tensor tolerance(const Tensor& A, const Tensor& greatest, const Tolerance& atol,
                 const Tolerance& rtol) {
  const double eps =
      A.dtype() == kFloat ? 1.1920929e-07 : 2.220446049250313e-16;
  const Scalar usual(eps *
                     static_cast<double>(std::max(A.size(-2), A.size(-1))));
  const auto as_column = [&](const Tensor& t) {
    return t.to(A.dtype()).unsqueeze(-1);
  };
  if (!given(atol)) {
    return given(rtol) ? as_column(*rtol) * greatest : greatest * usual;
  }
  const Tensor a = as_column(*atol);
  if (given(rtol)) return maximum(a, as_column(*rtol) * greatest);
  return maximum(
      a, where(a.gt(Scalar(0)), Scalar(0), usual).to(A.dtype()) * greatest);
}

Tensor inverted(const Tensor& values, const Tensor& sizes, const Tensor& tol) {
  return where(sizes.gt(tol), reciprocal(values), Scalar(0));
}

}  // namespace

Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  return std::get<1>(_linalg_svd(A, false, recorded(A), driver));
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some,
                                       bool compute_uv) {
  check_matrices("svd", self);
  if (compute_uv) {
    const auto [u, s, vh] = linalg_svd(self, !some);
    return {u, s, vh.mT()};
  }
  const auto square = [&](int64_t n) {
    Dims sizes = geometry::slice(self.sizes(), 0, -2);
    sizes.push_back(n);
    sizes.push_back(n);
    return zeros(sizes, self.options());
  };
  return {square(self.size(-2)), sy::linalg_svdvals(self),
          square(self.size(-1))};
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  return std::get<0>(_linalg_eigh(self, UPLO, recorded(self)));
}

Tensor linalg_matrix_sqrth(const Tensor& self) {
  const auto [l, v] = sy::linalg_eigh(self);
  return matmul(v * sqrt(clamp_min(l, Scalar(0))).unsqueeze(-2), v.mT());
}

std::tuple<Tensor, Tensor> linalg_polar(const Tensor& A) {
  const auto [u, s, vh] = sy::linalg_svd(A, false);
  return {matmul(u, vh), matmul(vh.mT() * s.unsqueeze(-2), vh)};
}

Tensor linalg_pinv(const Tensor& self, const Tolerance& atol,
                   const Tolerance& rtol, bool hermitian) {
  if (self.numel() == 0) {
    Dims sizes(self.sizes());
    std::swap(sizes[self.dim() - 1], sizes[self.dim() - 2]);
    return empty(sizes, self.options());
  }
  if (hermitian) {
    const auto [l, v] = sy::linalg_eigh(self);
    const Tensor sizes = abs(l);
    const Tensor tol = tolerance(self, amax(sizes, {-1}, true), atol, rtol);
    return matmul(v * inverted(l, sizes, tol).unsqueeze(-2), v.mT());
  }
  const auto [u, s, vh] = sy::linalg_svd(self, false);
  const Tensor tol = tolerance(self, s.narrow(-1, 0, 1), atol, rtol);
  return matmul(vh.mT() * inverted(s, s, tol).unsqueeze(-2), u.mT());
}

Tensor linalg_pinv_float(const Tensor& self, std::optional<double> atol,
                         std::optional<double> rtol, bool hermitian) {
  check_matrices("linalg_pinv", self);
  return sy::linalg_pinv(self, number(self, atol), number(self, rtol),
                         hermitian);
}

Tensor linalg_pinv_rcond(const Tensor& self, const Tensor& rcond,
                         bool hermitian) {
  return sy::linalg_pinv(self, Tolerance(), Tolerance(rcond), hermitian);
}

Tensor linalg_matrix_rank(const Tensor& input, const Tolerance& atol,
                          const Tolerance& rtol, bool hermitian) {
  check_matrices("linalg_matrix_rank", input);
  SY_CHECK(!hermitian || input.size(-1) == input.size(-2), Value,
           "[linalg_matrix_rank] self: expected square matrices, got {}",
           input.sizes());
  if (input.numel() == 0) {
    return zeros(geometry::slice(input.sizes(), 0, -2),
                 input.options().dtype(kLong));
  }
  const NoGradGuard counted;
  const Tensor values = sizes_of(input, hermitian);
  const Tensor tol = tolerance(input, amax(values, {-1}, true), atol, rtol);
  return values.gt(tol).sum({-1});
}

Tensor linalg_matrix_rank_float(const Tensor& self, std::optional<double> atol,
                                std::optional<double> rtol, bool hermitian) {
  check_matrices("linalg_matrix_rank", self);
  return sy::linalg_matrix_rank(self, number(self, atol), number(self, rtol),
                                hermitian);
}

Tensor linalg_matrix_rank_tol(const Tensor& input, const Tensor& tol,
                              bool hermitian) {
  check_matrices("linalg_matrix_rank", input);
  return sy::linalg_matrix_rank(input, Tolerance(tol), number(input, 0),
                                hermitian);
}

}  // namespace sy::composite
