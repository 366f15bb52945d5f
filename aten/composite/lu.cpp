#include "aten/ops/lu.h"
#include "aten/contract/linalg.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/lu_kernels.h"
#include "aten/ops/lu_ops.h"

namespace sy::composite {

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data,
                                             const Tensor& LU_pivots,
                                             bool unpack_data,
                                             bool unpack_pivots) {
  const int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
  const TensorOptions options = LU_data.options();
  const Tensor none = empty(IntArrayRef(int64_t{0}), options);
  Tensor P = none, L = none, U = none;
  if (unpack_data) {
    const Tensor ones = eye(m, k, options);
    L = LU_data.narrow(-1, 0, k).tril(-1) + ones;
    U = LU_data.narrow(-2, 0, k).triu();
  }
  if (unpack_pivots) {
    const Tensor order = _lu_permutation(LU_pivots, m);
    Dims sizes = geometry::slice(LU_data.sizes(), 0, -2);
    sizes.push_back(m);
    sizes.push_back(m);
    P = zeros(sizes, options).scatter(-2, order.unsqueeze(-2), Scalar(1));
  }
  return {P, L, U};
}

Tensor& lu_solve_out(const Tensor& LU, const Tensor& pivots, const Tensor& B,
                     bool left, bool adjoint, Tensor& out) {
  store_by_columns(ops::linalg_lu_solve_out::entry(),
                   linalg_lu_solve(LU, pivots, B, left, adjoint), out);
  return out;
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other,
                          OptionalIntArrayRef dims) {
  Tensor a = self;
  if (dims) {
    // They come last, in their order.
    const Dims moved =
        geometry::wrap_dims("linalg_tensorsolve", *dims, a.dim());
    Dims order;
    for (int64_t d = 0; d < a.dim(); ++d) {
      if (!geometry::contains(moved, d)) order.push_back(d);
    }
    for (const int64_t d : moved) order.push_back(d);
    SY_CHECK(order.size() == a.dim(), Value,
             "[linalg_tensorsolve] dims: expected distinct dims, got {}",
             *dims);
    a = a.permute(order);
  }
  SY_CHECK(a.dim() >= other.dim(), Value,
           "[linalg_tensorsolve] self: expected at least the dims of other, "
           "{}, got {}",
           other.dim(), a.dim());
  const Dims unknown = geometry::slice(a.sizes(), other.dim(), a.dim());
  const int64_t n = geometry::prod(unknown);
  SY_CHECK(n == other.numel(), Value,
           "[linalg_tensorsolve] self: expected as many elements in the dims "
           "after those of other as other has, {}, got {}",
           other.numel(), n);
  return linalg_solve(a.reshape({n, n}), other.reshape({n})).reshape(unknown);
}

}  // namespace sy::composite
