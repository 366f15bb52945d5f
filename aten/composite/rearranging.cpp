#include <algorithm>
#include <vector>

#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/engine/view.h"
#include "aten/ops/factory.h"
#include "aten/ops/rearranging_kernels.h"
#include "aten/ops/shape.h"

namespace sy::composite {

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1,
                  int64_t dim2) {
  const int64_t n = self.dim() + 1;
  SY_CHECK(self.dim() > 0, Value,
           "[diag_embed] self: expected at least one dim, got none");
  const int64_t a = wrap_dim("diag_embed", dim1, n);
  const int64_t b = wrap_dim("diag_embed", dim2, n);
  SY_CHECK(a != b, Value,
           "[diag_embed] dim2: expected another dim than dim1, got {} and {}",
           dim1, dim2);
  int64_t side = 0;
  SY_CHECK(offset > INT64_MIN &&
               !__builtin_add_overflow(self.size(-1),
                                       offset < 0 ? -offset : offset, &side),
           Value, "[diag_embed] offset: the result is too large: {}", offset);
  Dims sizes = geometry::slice(self.sizes(), 0, -1);
  sizes = geometry::inserted("diag_embed", sizes, std::min(a, b), side);
  sizes = geometry::inserted("diag_embed", sizes, std::max(a, b), side);
  Tensor out = sy::zeros(sizes, self.options());
  out.diagonal(offset, a, b).copy_(self);
  return out;
}

Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor out = self.clone();
  return out.copy_(src, non_blocking);
}

// For backends that have no kernel of their own.
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
