#include "aten/tensor.h"

#include "aten/autograd_hooks.h"

namespace sy {

namespace {
constinit const AutogradHooks* installed_hooks = nullptr;
}  // namespace

void set_autograd_hooks(const AutogradHooks* hooks) noexcept {
  installed_hooks = hooks;
}

const AutogradHooks& autograd_hooks() {
  SY_CHECK(installed_hooks != nullptr, NotImplemented,
           "gradients need the autograd library, which is not linked");
  return *installed_hooks;
}

Tensor Tensor::cpu() const { return to(Device(kCPU)); }

Tensor Tensor::cuda() const { return to(Device(kCUDA)); }

Tensor Tensor::toType(ScalarType dtype) const { return to(dtype); }

bool Tensor::requires_grad() const {
  return autograd_hooks().requires_grad(*this);
}

const Tensor& Tensor::requires_grad_(bool v) const {
  autograd_hooks().set_requires_grad(*this, v);
  return *this;
}

bool Tensor::is_leaf() const { return autograd_hooks().is_leaf(*this); }

const Tensor& Tensor::grad() const { return autograd_hooks().grad(*this); }

Tensor& Tensor::mutable_grad() const {
  return autograd_hooks().mutable_grad(*this);
}

void Tensor::retain_grad() const { autograd_hooks().retain_grad(*this); }

bool Tensor::retains_grad() const {
  return autograd_hooks().retains_grad(*this);
}

void Tensor::backward(const Tensor& gradient, bool retain_graph,
                      bool create_graph) const {
  autograd_hooks().backward(*this, gradient, retain_graph, create_graph);
}

}  // namespace sy
