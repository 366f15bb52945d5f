#include <algorithm>
#include <tuple>

#include "aten/engine/dims.h"
#include "aten/engine/structured.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/support/factors.h"

namespace sy::cuda {

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A,
                                                       bool pivot,
                                                       bool check_errors) {
  const Tensor LU = columns_of(A, A.sizes());
  Dims sizes(A.sizes().slice(0, static_cast<size_t>(A.dim() - 2)));
  sizes.push_back(std::min(A.size(-2), A.size(-1)));
  const Tensor pivots = new_result(A, sizes, kInt);
  FactorParams p = {};
  p.a = matrix_of(LU);
  p.pivot = pivot ? 1 : 0;
  const Tensor info = factor("linalg_lu_factor", "lu", LU, pivots, p);
  // A matrix that is not square has no solution anyway.
  if (check_errors && A.size(-2) == A.size(-1)) {
    check_info("linalg_lu_factor", info);
  }
  return {LU, pivots, info};
}

}  // namespace sy::cuda
