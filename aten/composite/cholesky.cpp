#include "aten/ops/cholesky.h"
#include "aten/contract/linalg_info.h"
#include "aten/engine/structured.h"
#include "aten/ops/cholesky_kernels.h"
#include "aten/ops/cholesky_ops.h"

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

}  // namespace sy::composite
