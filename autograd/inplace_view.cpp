#include "autograd/inplace_view.h"

#include "autograd/generated_support.h"
#include "autograd/meta.h"

namespace sy::autograd {

void set_history_of_view(Tensor& self, intrusive_ptr<Node> node) {
  TensorImpl& t = *self.impl();
  if (!is_floating_type(t.dtype())) return skip_output(*node);
  const uint32_t nr = node->add_output(self);
  set_gradient_edge(t, {std::move(node), nr});
}

}  // namespace sy::autograd
