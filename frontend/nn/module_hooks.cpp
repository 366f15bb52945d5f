#include "frontend/nn/module_hooks.h"

#include <algorithm>
#include <mutex>

#include "autograd/function.h"
#include "autograd/hooks.h"
#include "c10/dispatch/capture.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/fork.h"
#include "frontend/nn/hook_lists.h"
#include "frontend/nn/module.h"

namespace sy::nn {

namespace detail {

std::atomic<int> global_hook_count{0};

namespace {

struct Globals {
  ForkMutex mutex;
  ModuleHooks hooks;
};
// Leaked: modules may be called while the process ends.
Globals& globals() {
  static Globals& g = *new Globals;
  return g;
}

template <class F>
HookHandle add_global(HookList<F> ModuleHooks::*list, F hook) {
  Globals& g = globals();
  const std::lock_guard lock(g.mutex);
  return (g.hooks.*list).add(std::move(hook), &global_hook_count);
}

// Results that are the arguments, behind one node of the graph, which gets the
// gradients of all of them at once.
struct PassOn : autograd::Function<PassOn> {
  static autograd::variable_list forward(autograd::AutogradContext* ctx,
                                         const std::vector<Tensor>& tensors) {
    ctx->set_materialize_grads(false);
    autograd::variable_list same;
    for (const Tensor& t : tensors) same.push_back(t.detach());
    return same;
  }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list grads) {
    return grads;
  }
};

// The tensors of a call that require a gradient, with one node around them.
struct Wrapped {
  std::vector<size_t> places;
  size_t count = 0;      // of all tensors
  bool wrapped = false;  // false: none requires a gradient

  // nullptr if none requires a gradient.
  intrusive_ptr<autograd::Node> wrap(const std::vector<Tensor*>& all) {
    count = all.size();
    std::vector<Tensor> wanted;
    for (size_t i = 0; i < count; ++i) {
      if (!all[i]->defined() || !all[i]->requires_grad()) continue;
      places.push_back(i);
      wanted.push_back(*all[i]);
    }
    if (wanted.empty() || !GradMode::is_enabled()) return nullptr;
    const std::vector<Tensor> same = PassOn::apply(wanted);
    for (size_t i = 0; i < places.size(); ++i) *all[places[i]] = same[i];
    wrapped = true;
    return same[0].grad_fn();
  }
  std::vector<Tensor> spread(const std::vector<Tensor>& grads) const {
    std::vector<Tensor> all(count);
    for (size_t i = 0; i < places.size(); ++i) all[places[i]] = grads[i];
    return all;
  }
  std::vector<Tensor> gathered(const std::vector<Tensor>& all) const {
    std::vector<Tensor> some;
    for (const size_t p : places) some.push_back(all[p]);
    return some;
  }
};

// The state that the nodes around the inputs and the outputs of a call share.
struct BackwardRun {
  std::shared_ptr<Module> module;
  ModuleHooks global, own;
  Wrapped inputs, outputs;
  ForkMutex mutex;
  std::vector<Tensor> grad_outputs;

  std::vector<Tensor> at_outputs(const std::vector<Tensor>& grads) {
    std::vector<Tensor> all = outputs.spread(grads);
    global.backward_pre.run(*module, all);
    own.backward_pre.run(*module, all);
    if (!inputs.wrapped) {
      std::vector<Tensor> none(inputs.count);
      run(none, all);
    } else {
      const std::lock_guard lock(mutex);
      grad_outputs = all;
    }
    return outputs.gathered(all);
  }
  std::vector<Tensor> at_inputs(const std::vector<Tensor>& grads) {
    std::vector<Tensor> all = inputs.spread(grads), outs;
    {
      const std::lock_guard lock(mutex);
      outs.swap(grad_outputs);
    }
    run(all, outs);
    return inputs.gathered(all);
  }
  void run(std::vector<Tensor>& grads, const std::vector<Tensor>& outs) const {
    const TensorList list = outs;
    global.backward.run(*module, grads, list);
    own.backward.run(*module, grads, list);
  }
};

void write_back(const std::vector<Tensor>& values,
                const std::vector<Tensor*>& to, const char* what) {
  SY_CHECK(values.size() == to.size(), Value,
           "[module hook] {}: expected {} tensors, got {}", what, to.size(),
           values.size());
  for (size_t i = 0; i < to.size(); ++i) *to[i] = values[i];
}
std::vector<Tensor> copies(const std::vector<Tensor*>& of) {
  std::vector<Tensor> all;
  for (const Tensor* t : of) all.push_back(*t);
  return all;
}

}  // namespace

ModuleHooks global_hooks() {
  Globals& g = globals();
  const std::lock_guard lock(g.mutex);
  return g.hooks;
}

struct HookedCall::State {
  std::shared_ptr<Module> module;
  ModuleHooks global, own;
  std::vector<Tensor> inputs;
  std::shared_ptr<BackwardRun> backward;  // nullptr if there are no hooks of it
  intrusive_ptr<autograd::Node> before;   // the inputs'
};

HookedCall::HookedCall(Module& module, const std::vector<Tensor*>& inputs)
    : state_(std::make_unique<State>()) {
  if (thread_state.capture != nullptr && has_running_hooks(module)) {
    tell_capture_acts("hooks of a module run");
  }
  State& s = *state_;
  s.module = module.shared_from_this();
  if (any_global_hooks()) s.global = global_hooks();
  if (module.hooks_ != nullptr) s.own = *module.hooks_;
  s.inputs = copies(inputs);
  s.global.forward_pre.run(module, s.inputs);
  s.own.forward_pre.run(module, s.inputs);
  write_back(s.inputs, inputs, "inputs");
  if (s.global.backward.empty() && s.global.backward_pre.empty() &&
      s.own.backward.empty() && s.own.backward_pre.empty()) {
    return;
  }
  s.backward = std::make_shared<BackwardRun>();
  s.backward->module = s.module;
  s.backward->global = s.global;
  s.backward->own = s.own;
  s.before = s.backward->inputs.wrap(inputs);
  s.inputs = copies(inputs);
}

HookedCall::~HookedCall() = default;

void HookedCall::finish(const std::vector<Tensor*>& outputs) {
  State& s = *state_;
  std::vector<Tensor> values = copies(outputs);
  const TensorList inputs = s.inputs;
  s.global.forward.run(*s.module, inputs, values);
  s.own.forward.run(*s.module, inputs, values);
  write_back(values, outputs, "outputs");
  if (s.backward == nullptr) return;
  const std::shared_ptr<BackwardRun> run = s.backward;
  // The nodes hold the run, never the run them.
  const intrusive_ptr<autograd::Node> after = run->outputs.wrap(outputs);
  if (after == nullptr) return;
  after->register_pre_hook(
      [run](const std::vector<Tensor>& g) { return run->at_outputs(g); });
  if (s.before == nullptr) return;
  s.before->register_pre_hook(
      [run](const std::vector<Tensor>& g) { return run->at_inputs(g); });
}

}  // namespace detail

void HookHandle::remove() {
  const auto hook = hook_.lock();
  if (hook == nullptr || !hook->active.exchange(false)) return;
  if (hook->count != nullptr) --*hook->count;
}

bool any_global_hooks() {
  return detail::global_hook_count.load(std::memory_order_relaxed) != 0;
}

HookHandle register_module_forward_pre_hook(ForwardPreHook hook) {
  return detail::add_global(&detail::ModuleHooks::forward_pre, std::move(hook));
}
HookHandle register_module_forward_hook(ForwardHook hook) {
  return detail::add_global(&detail::ModuleHooks::forward, std::move(hook));
}
HookHandle register_module_full_backward_pre_hook(BackwardPreHook hook) {
  return detail::add_global(&detail::ModuleHooks::backward_pre,
                            std::move(hook));
}
HookHandle register_module_full_backward_hook(BackwardHook hook) {
  return detail::add_global(&detail::ModuleHooks::backward, std::move(hook));
}

}  // namespace sy::nn
