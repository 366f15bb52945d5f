#include "aten/engine/index_functions.h"
#include "aten/ops/view.h"
#include "aten/ops/view_kernels.h"

namespace sy::composite {

Tensor restore_dims(const Tensor& self, int64_t ndim, OptionalIntArrayRef dim,
                    bool keepdim) {
  if (keepdim || self.dim() == ndim) return self;
  const Dims reduced =
      shapes::wrap_dims("_restore_dims", dim.value_or(IntArrayRef()), ndim);
  Dims sizes;
  int64_t kept = 0;
  for (int64_t d = 0; d < ndim; ++d) {
    const bool one = reduced.empty() || shapes::contains(reduced, d);
    sizes.push_back(one ? 1 : self.size(kept++));
  }
  return sy::view(self, sizes);
}

}  // namespace sy::composite
