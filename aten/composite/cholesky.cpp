#include "aten/ops/cholesky.h"

#include "aten/contract/linalg.h"
#include "aten/engine/structured.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/cholesky_kernels.h"
#include "aten/ops/cholesky_ops.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"

namespace sy::composite {

std::tuple<Tensor&, Tensor&, Tensor&> ldl_factor_ex_out(
    const Tensor& self, bool hermitian, bool check_errors, Tensor& LD,
    Tensor& pivots, Tensor& info) {
  const OperatorEntry& op = ops::linalg_ldl_factor_ex_out::entry();
  const auto [ld, p, codes] =
      linalg_ldl_factor_ex(self, hermitian, check_errors);
  store_by_columns(op, ld, LD);
  store_result(op, p, pivots);
  store_result(op, codes, info);
  return {LD, pivots, info};
}

std::tuple<Tensor&, Tensor&> triangular_solve_out(const Tensor& self,
                                                  const Tensor& A, bool upper,
                                                  bool transpose,
                                                  bool unitriangular, Tensor& X,
                                                  Tensor& M) {
  const OperatorEntry& op = ops::triangular_solve_X::entry();
  const auto [x, a] =
      triangular_solve(self, A, upper, transpose, unitriangular);
  store_by_columns(op, x, X);
  store_by_columns(op, a, M);
  return {X, M};
}

// For backends that have no kernels of their own.
Tensor cholesky_solve_by_triangles(const Tensor& self, const Tensor& input2,
                                   bool upper) {
  const Tensor L = upper ? input2.mT() : input2;
  const Tensor y = sy::linalg_solve_triangular(L, self, false);
  return sy::linalg_solve_triangular(L.mT(), y, true);
}

Tensor cholesky_inverse_by_solve(const Tensor& self, bool upper) {
  // NaN hides a zero beside it, as in LAPACK.
  const Tensor diagonal = sy::abs(self.diagonal(0, -2, -1));
  SY_CHECK(
      self.numel() == 0 || !sy::amin(diagonal, {-1}).eq(0).any().item<bool>(),
      Value,
      "[cholesky_inverse] self: expected no zero on the diagonal, got one");
  const Tensor eye = sy::eye(self.size(-1), self.options());
  return sy::cholesky_solve(eye.expand(self.sizes()), self, upper);
}

}  // namespace sy::composite
