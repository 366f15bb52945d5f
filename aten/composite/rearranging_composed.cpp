// Triangles made of where, rolls made of cat: for backends that have no kernels
// of their own for them.

#include <vector>

#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/rearranging_kernels.h"
#include "aten/ops/shape.h"
#include "aten/ops/shape_kernels.h"
#include "aten/ops/view.h"

namespace sy::composite {

namespace {

// How far right of the diagonal each element of a matrix lies.
Tensor distances(const Tensor& self) {
  const TensorOptions longs = self.options().dtype(kLong);
  return sy::arange(self.size(-1), longs) -
         sy::arange(self.size(-2), longs).unsqueeze(1);
}

Tensor kept(const Tensor& self, const Tensor& where) {
  return sy::where(where, self, sy::zeros({}, self.options()));
}

}  // namespace

Tensor tril_by_where(const Tensor& self, int64_t diagonal) {
  return kept(self, distances(self) <= diagonal);
}

Tensor triu_by_where(const Tensor& self, int64_t diagonal) {
  return kept(self, distances(self) >= diagonal);
}

Tensor roll_by_cat(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  if (dims.empty()) {
    const int64_t first[] = {0};
    return roll_by_cat(self.reshape(-1), shifts, first).reshape(self.sizes());
  }
  Tensor out = self.clone();
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t dim = wrap_dim("roll", dims[k], self.dim());
    const int64_t n = self.dim() == 0 ? 0 : self.size(dim);
    if (n == 0) continue;
    const int64_t shift = (shifts[k] % n + n) % n;
    out = sy::cat(
        {out.narrow(dim, n - shift, shift), out.narrow(dim, 0, n - shift)},
        dim);
  }
  return out;
}

}  // namespace sy::composite
