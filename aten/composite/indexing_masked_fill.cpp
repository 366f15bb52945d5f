#include "aten/engine/guard.h"
#include "aten/engine/view.h"
#include "aten/ops/indexing.h"
#include "aten/ops/indexing_kernels.h"
#include "aten/ops/reduction.h"

namespace sy::composite {

namespace {

// One element of an expanded tensor stands for several: it is written if the
// mask is true for any of them.
template <class V>
Tensor& fill(Tensor& self, const Tensor& mask, const V& value) {
  const Dims sizes =
      broadcast_sizes("masked_fill_", self.sizes(), mask.sizes());
  SY_CHECK(IntArrayRef(sizes) == self.sizes(), Value,
           "[masked_fill_] mask: expected sizes that expand to those of self, "
           "{}, got {}",
           self.sizes(), mask.sizes());
  if (SY_LIKELY(internal_overlap(self) == Overlap::No)) {
    return sy::masked_fill_out(self, self, mask, value);
  }
  Dims own(self.sizes()), expanded;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (own[d] > 1 && self.stride(d) == 0) {
      own[d] = 1;
      expanded.push_back(d);
    }
  }
  Tensor base =
      alias_without_view(self, own, self.strides(), self.storage_offset());
  assert_no_internal_overlap("masked_fill_", "self", base);
  const Tensor any = sy::any(mask.expand(sizes), IntArrayRef(expanded), true);
  sy::masked_fill_out(base, base, any, value);
  return self;
}

}  // namespace

Tensor& masked_fill_scalar_(Tensor& self, const Tensor& mask,
                            const Scalar& value) {
  return fill(self, mask, value);
}

Tensor& masked_fill_tensor_(Tensor& self, const Tensor& mask,
                            const Tensor& value) {
  return fill(self, mask, value);
}

}  // namespace sy::composite
