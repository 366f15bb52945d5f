#include "autograd/api.h"

#include "aten/autograd_hooks.h"
#include "autograd/engine.h"
#include "autograd/meta.h"
#include "autograd/runtime_ops.h"
#include "autograd/view.h"
#include "c10/dispatch/capture.h"

namespace sy::autograd {

namespace {

struct Roots {
  std::vector<Edge> edges;
  std::vector<Tensor> gradients;
};

// ", the result of mul.Tensor"; nothing of leaves.
std::string made_by(const Tensor& t) {
  const std::string name = grad_fn_name(t);
  return name.empty() ? name : ", the result of " + name;
}

Tensor root_gradient(const char* op, const char* name, size_t i,
                     const Tensor& t, TensorList gradients) {
  if (gradients.empty() || !gradients[i].defined()) {
    SY_CHECK(t.numel() == 1, Value,
             "[{}] {}[{}]: expected a tensor of one element, or a gradient for "
             "it, got {}{}",
             op, name, i, describe(t), made_by(t));
    return rt::ones_like(t);
  }
  const Tensor& g = gradients[i];
  const auto expected = [&] {
    return str("[{}] gradient of {}[{}]: expected ", op, name, i);
  };
  const auto got = [&] {
    return str(", got {}, for {}{}", describe(g), describe(t), made_by(t));
  };
  SY_CHECK(g.sizes() == t.sizes(), Value, "{}size {}{}", expected(), t.sizes(),
           got());
  SY_CHECK(g.is_floating_point(), Type, "{}a floating dtype{}", expected(),
           got());
  SY_CHECK(g.device() == t.device(), Value, "{}device {}{}", expected(),
           t.device(), got());
  return g;
}

Roots roots_of(const char* op, const char* name, TensorList tensors,
               TensorList gradients) {
  SY_CHECK(gradients.empty() || gradients.size() == tensors.size(), Value,
           "[{}] expected a gradient for each of {} tensors, got {}", op,
           tensors.size(), gradients.size());
  Roots r;
  r.edges.reserve(tensors.size());
  r.gradients.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    SY_CHECK(t.defined(), Value,
             "[{}] {}[{}]: expected a tensor, got an undefined one", op, name,
             i);
    Edge e = gradient_edge(*t.impl());
    SY_CHECK(e.node, Value,
             "[{}] {}[{}]: expected a tensor that requires a gradient, got {}, "
             "which has no history",
             op, name, i, describe(t));
    r.gradients.push_back(root_gradient(op, name, i, t, gradients));
    r.edges.push_back(std::move(e));
  }
  return r;
}

// Gradients outlive the mode of whoever asks for them.
class OutsideInferenceMode {
 public:
  OutsideInferenceMode() {
    if (SY_UNLIKELY(InferenceMode::is_enabled())) normal_.emplace(false);
  }

 private:
  std::optional<InferenceMode> normal_;
};

}  // namespace

void backward(TensorList tensors, TensorList grad_tensors,
              std::optional<bool> retain_graph, bool create_graph) {
  const OutsideInferenceMode mode;
  const Roots r = roots_of("backward", "tensors", tensors, grad_tensors);
  RunOptions o;
  o.keep_graph = retain_graph.value_or(create_graph);
  o.create_graph = create_graph;
  std::vector<Capture> none;
  run(r.edges, r.gradients, none, o);
}

std::vector<Tensor> grad(TensorList outputs, TensorList inputs,
                         TensorList grad_outputs,
                         std::optional<bool> retain_graph, bool create_graph,
                         bool allow_unused) {
  const OutsideInferenceMode mode;
  const Roots r = roots_of("grad", "outputs", outputs, grad_outputs);
  std::vector<Capture> captures(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    SY_CHECK(inputs[i].defined(), Value,
             "[grad] inputs[{}]: expected a tensor, got an undefined one", i);
    captures[i].edge = gradient_edge(*inputs[i].impl());
    SY_CHECK(
        captures[i].edge.node, Value,
        "[grad] inputs[{}]: expected a tensor that requires a gradient, got {}",
        i, describe(inputs[i]));
  }
  RunOptions o;
  o.keep_graph = retain_graph.value_or(create_graph);
  o.create_graph = create_graph;
  o.captures_only = true;
  run(r.edges, r.gradients, captures, o);
  std::vector<Tensor> result(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    SY_CHECK(captures[i].gradient.defined() || allow_unused, Value,
             "[grad] inputs[{}]: expected a tensor that the outputs depend on, "
             "got {}; allow_unused = true gives an undefined gradient instead",
             i, describe(inputs[i]));
    result[i] = std::move(captures[i].gradient);
  }
  return result;
}

std::string grad_fn_name(const Tensor& t) {
  const auto node = t.defined() ? grad_fn(*t.impl()) : nullptr;
  return node ? node->name() : std::string();
}

namespace {

TensorImpl& impl_of(const char* op, const Tensor& t) {
  SY_CHECK(t.defined(), Value, "[{}] expected a tensor, got an undefined one",
           op);
  return *t.impl();
}

void tell_history(const char* op, TensorImpl& impl) {
  if (SY_LIKELY(thread_state.capture == nullptr)) return;
  CaptureNote note{CaptureNote::kHistory, op};
  note.tensor = &impl;
  sy::tell_capture(note);
}

bool hook_requires_grad(const Tensor& t) {
  return requires_grad(impl_of("requires_grad", t));
}

bool hook_is_leaf(const Tensor& t) { return !grad_fn(impl_of("is_leaf", t)); }

void hook_set_requires_grad(const Tensor& t, bool v) {
  TensorImpl& impl = impl_of("requires_grad_", t);
  if (requires_grad(impl) == v) return;
  tell_history("requires_grad_", impl);
  SY_CHECK(
      !grad_fn(impl), Value,
      "[requires_grad_] expected a leaf, got the result of {}; use detach()",
      grad_fn_name(t));
  SY_CHECK(!v || is_floating_type(impl.dtype()), Value,
           "[requires_grad_] expected a floating dtype, got {}", describe(t));
  SY_CHECK(!v || !impl.is_inference(), Value,
           "[requires_grad_] expected a tensor made outside of inference mode, "
           "got {}",
           describe(t));
  materialize_meta(impl).requires_grad = v;
  if (v) {
    impl.add_keys(DispatchKey::Autograd);
  } else if (!impl.view_meta()) {
    impl.remove_keys(DispatchKey::Autograd);
  }
}

void hook_detach(const Tensor& t) {
  TensorImpl& impl = impl_of("detach_", t);
  SY_CHECK(differentiable_root(impl) == nullptr, Value,
           "[detach_] self: expected a tensor that is no view, got a view of "
           "another one, whose writes it must follow; use detach()");
  tell_history("detach_", impl);
  if (Meta* const m = meta_of(impl)) {
    m->grad_fn = nullptr;
    m->output_nr = 0;
    m->requires_grad = false;
    m->retains_grad = false;
  }
  impl.remove_keys(DispatchKey::Autograd);
}

void tell_capture(const char* op, const Tensor& t) {
  thread_state.capture->on_grad(
      intrusive_ptr<TensorImpl>::retain(&impl_of(op, t)));
}

const Tensor& hook_grad(const Tensor& t) {
  static const Tensor none;
  if (thread_state.capture != nullptr) tell_capture("grad", t);
  const Meta* m = meta_of(impl_of("grad", t));
  return m == nullptr ? none : m->grad;
}

Tensor& hook_mutable_grad(const Tensor& t) {
  if (thread_state.capture != nullptr) tell_capture("mutable_grad", t);
  return materialize_meta(impl_of("mutable_grad", t)).grad;
}

void hook_retain_grad(const Tensor& t) {
  TensorImpl& impl = impl_of("retain_grad", t);
  SY_CHECK(requires_grad(impl), Value,
           "[retain_grad] expected a tensor that requires a gradient, got {}",
           describe(t));
  const Edge e = gradient_edge(impl);
  Meta& m = materialize_meta(impl);
  if (!grad_fn(impl) || m.retains_grad) return;
  tell_capture_acts("retain_grad keeps a gradient");
  m.retains_grad = true;
  set_gradient_edge(impl, e);
}

bool hook_retains_grad(const Tensor& t) {
  const Meta* m = meta_of(impl_of("retains_grad", t));
  return m != nullptr && m->retains_grad;
}

void hook_backward(const Tensor& t, const Tensor& gradient, bool retain_graph,
                   bool create_graph) {
  backward(t, gradient, retain_graph || create_graph, create_graph);
}

constexpr AutogradHooks kHooks = {&hook_requires_grad, &hook_set_requires_grad,
                                  &hook_detach,        &hook_is_leaf,
                                  &hook_grad,          &hook_mutable_grad,
                                  &hook_retain_grad,   &hook_retains_grad,
                                  &hook_backward};

[[maybe_unused]] const bool installed = (set_autograd_hooks(&kHooks), true);

}  // namespace

}  // namespace sy::autograd
