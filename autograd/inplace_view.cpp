#include "autograd/inplace_view.h"

#include "autograd/generated_support.h"
#include "autograd/meta.h"
#include "autograd/view.h"
#include "c10/library.h"

namespace sy::autograd {

void set_history_of_view(Tensor& self, intrusive_ptr<Node> node) {
  TensorImpl& t = *self.impl();
  if (!is_floating_type(t.dtype())) return skip_output(*node);
  const uint32_t nr = node->add_output(self);
  set_gradient_edge(t, {std::move(node), nr});
}

namespace {

Tensor& detach_(DispatchKeySet, Tensor& self) {
  TensorImpl& t = *self.impl();
  SY_CHECK(differentiable_root(t) == nullptr, Value,
           "[detach_] self: expected a tensor that is no view, got a view of "
           "another one, whose writes it must follow; use detach()");
  if (Meta* const m = meta_of(t)) {
    m->grad_fn = nullptr;
    m->output_nr = 0;
    m->requires_grad = false;
    m->retains_grad = false;
  }
  t.remove_keys(DispatchKey::Autograd);
  return self;
}

}  // namespace

SY_LIBRARY_IMPL(aten, Autograd, m) { m.impl("detach_", SY_FN(detach_)); }

}  // namespace sy::autograd
