// Systems of equations, made of factors and triangular solves: for backends
// that have no kernels of their own for them.

#include <numeric>
#include <string_view>

#include "aten/contract/linalg.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/cholesky.h"
#include "aten/ops/factory.h"
#include "aten/ops/lu.h"
#include "aten/ops/lu_kernels.h"
#include "aten/tensor_new.h"

namespace sy::composite {

namespace {

// `t` with its batch expanded to `batch`.
Tensor spread(const Tensor& t, const Dims& batch) {
  Dims sizes(batch);
  for (size_t d = t.sizes().size() - 2; d < t.sizes().size(); ++d) {
    sizes.push_back(t.sizes()[d]);
  }
  return t.expand(IntArrayRef(sizes));
}

Dims batch_of(const char* op, const Tensor& a, const Tensor& b) {
  const auto batch = [](const Tensor& t) {
    return t.sizes().slice(0, t.sizes().size() - 2);
  };
  return broadcast_sizes(op, batch(a), batch(b));
}

// P, L and U one after the other, or their transposes in the other order.
Tensor solved(const char* op, const Tensor& LU, const Tensor& pivots,
              const Tensor& B, bool adjoint) {
  const Dims batch = batch_of(op, LU, B);
  const Tensor b = spread(B, batch);
  // Row i of P^T B is row order[i] of B.
  const Tensor order = sy::_lu_permutation(pivots, LU.size(-1));
  const Tensor rows = order.unsqueeze(-1).expand(b.sizes());
  const auto solve = [&](const Tensor& t, const Tensor& rhs, bool upper,
                         bool unit) {
    return sy::linalg_solve_triangular(t, rhs, upper, true, unit);
  };
  if (!adjoint) {
    return solve(LU, solve(LU, b.gather(-2, rows), false, true), true, false);
  }
  const Tensor y = solve(LU.mT(), solve(LU.mT(), b, false, false), true, true);
  return sy::empty(y.sizes(), y.options()).scatter(-2, rows, y);
}

// X of A X = B, or of X A = B, which is A^T X^T = B^T.
Tensor solve_side(const char* op, const Tensor& LU, const Tensor& pivots,
                  const Tensor& B, bool left, bool adjoint) {
  if (left) return solved(op, LU, pivots, B, adjoint);
  return solved(op, LU, pivots, B.mT(), !adjoint).mT();
}

}  // namespace

// Reads the pivots on the host: exchanges follow one another.
Tensor lu_permutation_by_swaps(const Tensor& pivots, int64_t rows) {
  const Tensor p = pivots.to(Device(kCPU)).contiguous();
  const auto* from = p.const_data_ptr<int32_t>();
  const auto each = static_cast<size_t>(p.size(-1));
  Dims sizes = geometry::slice(p.sizes(), 0, p.dim() - 1);
  const int64_t count = geometry::prod(sizes);
  sizes.push_back(rows);
  const Tensor out = sy::empty(sizes, p.options().dtype(kLong));
  auto* order = out.data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i, from += each, order += rows) {
    std::iota(order, order + rows, int64_t{0});
    for (size_t k = 0; k < each; ++k) {
      SY_CHECK(
          from[k] >= 1 && from[k] <= rows, Value,
          "[lu_unpack] pivots: expected rows counted from 1 up to {}, got {}",
          rows, from[k]);
      std::swap(order[k], order[from[k] - 1]);
    }
  }
  return out.to(pivots.device());
}

Tensor lu_solve_by_triangles(const Tensor& LU, const Tensor& pivots,
                             const Tensor& B, bool left, bool adjoint) {
  return solve_side("linalg_lu_solve", LU, pivots, B, left, adjoint);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> solve_ex_by_factors(
    const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  constexpr const char* kOp = "linalg_solve";
  const auto [LU, pivots, info] = sy::linalg_lu_factor_ex(A);
  if (check_errors) check_linalg_info(kOp, info.to(Device(kCPU)));
  const bool vector = is_vector_beside(A, B);
  const Tensor x =
      solve_side(kOp, LU, pivots, vector ? B.unsqueeze(-1) : B, left, false);
  return {vector ? x.squeeze(-1) : x, LU, pivots, info};
}

std::tuple<Tensor, Tensor> inv_ex_by_solve(const Tensor& A, bool check_errors) {
  const auto [LU, pivots, info] = sy::linalg_lu_factor_ex(A);
  if (check_errors) check_linalg_info("linalg_inv", info.to(Device(kCPU)));
  const Tensor eye = sy::eye(A.size(-1), A.options());
  return {solved("linalg_inv", LU, pivots, eye, false), info};
}

}  // namespace sy::composite
