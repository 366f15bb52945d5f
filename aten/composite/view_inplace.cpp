#include "aten/ops/view_inplace.h"
#include "aten/autograd_hooks.h"
#include "aten/engine/guard.h"
#include "aten/ops/view.h"
#include "aten/ops/view_inplace_kernels.h"
#include "c10/tensor/autograd_meta.h"

namespace sy::composite {

namespace {

// Gives self the geometry of `view`, a view of it. If self is a view itself,
// it becomes one of what it was before.
Tensor& become(Tensor& self, const Tensor& view) {
  TensorImpl& t = *self.impl();
  const intrusive_ptr<ViewMeta>& how = view.impl()->view_meta();
  if (t.view_meta() && how) {
    intrusive_ptr<TensorImpl> before = t.alias();
    before->set_key_set(t.key_set());
    before->set_view_meta(t.take_view_meta());
    t.set_view_meta(ViewMeta::make(std::move(before), how->op(), how->args(),
                                   how->num_args(), ViewCreation::Default));
  }
  t.set_sizes_and_strides(view.sizes(), view.strides(), view.storage_offset());
  return self;
}

}  // namespace

Tensor& t_(Tensor& self) { return become(self, sy::t(self)); }

Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return become(self, sy::transpose(self, dim0, dim1));
}

Tensor& swapaxes_(Tensor& self, int64_t axis0, int64_t axis1) {
  return self.transpose_(axis0, axis1);
}

Tensor& swapdims_(Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose_(dim0, dim1);
}

Tensor& squeeze_(Tensor& self) { return become(self, sy::squeeze(self)); }

Tensor& squeeze_dim_(Tensor& self, int64_t dim) {
  return become(self, sy::squeeze(self, dim));
}

Tensor& squeeze_dims_(Tensor& self, IntArrayRef dim) {
  return become(self, sy::squeeze(self, dim));
}

Tensor& unsqueeze_(Tensor& self, int64_t dim) {
  return become(self, sy::unsqueeze(self, dim));
}

Tensor& as_strided_(Tensor& self, IntArrayRef size, IntArrayRef stride,
                    std::optional<int64_t> storage_offset) {
  return become(self, sy::as_strided(self, size, stride, storage_offset));
}

Tensor& detach_(Tensor& self) {
  check_defined("detach_", "self", self);
  // A tensor that autograd does not know has no history.
  if (self.impl()->key_set().has(DispatchKey::Autograd)) {
    autograd_hooks().detach(self);
  }
  return self;
}

}  // namespace sy::composite
