#include "autograd/run_hooks.h"

#include <mutex>

#include "autograd/anomaly.h"
#include "autograd/user_error.h"
#include "c10/dispatch/capture.h"

namespace sy::autograd {

namespace {

// The hooks as they are now: hooks may register and remove others.
template <class List>
List hooks_now(const Node& n, List NodeHooks::*list) {
  const std::lock_guard guard(n.lock());
  return (*n.extra_or_null()->hooks).*list;
}

void call(const Node& n, const Hook& hook, const HookValues& v) {
  if (!hook.active()) return;
  tell_capture_acts("a hook runs");
  call_user(
      [&] { hook(v); },
      [&] { return str("in {}, {}", hook.describe(), describe_origin(n)); });
}

void check(const Node& n, const Hook& hook, const Tensor& got,
           const SavedMeta& expected, const char* what, uint32_t i) {
  SY_CHECK(expected.defined() && expected.matches(*got.impl()), Value,
           "{}{} should give {} for {} {} of {}, gave {}", backward_prefix(n),
           hook.describe(), to_string(expected), what, i, n.name(),
           describe(got));
}

}  // namespace

void run_tensor_hooks(const Node& n, Tensor* grads) {
  for (const auto& h : hooks_now(n, &NodeHooks::tensor)) {
    Tensor& grad = grads[h.output];
    if (!grad.defined()) continue;
    call(n, *h.hook, {&grad, 1, nullptr, 0});
    check(n, *h.hook, grad, n.output(h.output), "output", h.output);
  }
}

void run_pre_hooks(const Node& n, Tensor* grads) {
  for (const auto& h : hooks_now(n, &NodeHooks::pre)) {
    call(n, *h, {grads, n.num_outputs(), nullptr, 0});
    for (uint32_t i = 0; i < n.num_outputs(); ++i) {
      if (grads[i].defined()) check(n, *h, grads[i], n.output(i), "output", i);
    }
  }
}

HookList post_hooks(const Node& n) { return hooks_now(n, &NodeHooks::post); }

void run_post_hooks(const Node& n, const HookList& hooks, Tensor* made,
                    const std::vector<Tensor>& given) {
  for (const auto& h : hooks) {
    call(n, *h, {made, n.num_edges(), given.data(), given.size()});
    for (uint32_t i = 0; i < n.num_edges(); ++i) {
      const Edge& e = n.edge(i);
      if (!e.node || !made[i].defined()) continue;
      check(n, *h, made[i], e.node->output(e.input_nr), "input", i);
    }
  }
}

}  // namespace sy::autograd
