#include "autograd/hooks.h"

#include <algorithm>
#include <mutex>

#include "autograd/meta.h"
#include "autograd/node.h"
#include "c10/dispatch/capture.h"
#include "c10/plugin/library_token.h"

namespace sy::autograd {

Hook::Hook(Function f, const void* dso, const char* file, int line)
    : function_(std::make_shared<const Function>(std::move(f))),
      owner_(plugin_of(dso)),
      file_(file),
      line_(line) {
  if (owner_ != nullptr) owner_->hold(LibraryToken::kHook);
}

Hook::~Hook() {
  if (function_ != nullptr && owner_ != nullptr) {
    owner_->drop(LibraryToken::kHook);
  }
}

std::shared_ptr<const Hook::Function> Hook::function() const noexcept {
  const std::lock_guard guard(lock_);
  return function_;
}

void Hook::operator()(const HookValues& v) const {
  if (const auto f = function()) (*f)(v);
}

void Hook::remove() noexcept {
  std::shared_ptr<const Function> f;
  {
    const std::lock_guard guard(lock_);
    f.swap(function_);
  }
  if (!f) return;
  tell_capture_acts("a hook is removed");
  f.reset();
  if (owner_ != nullptr) owner_->drop(LibraryToken::kHook);
}

bool Hook::active() const noexcept { return function() != nullptr; }

std::string Hook::describe() const {
  return str("the hook registered at {}:{}", file_, line_);
}

namespace detail {

void wrong_count(size_t expected, size_t got) {
  fail(ErrorKind::Value, "expected {} gradients, got {}", expected, got);
}

void replace_all(const HookValues& v, std::vector<Tensor> by) {
  if (by.empty()) return;
  if (by.size() != v.count) wrong_count(v.count, by.size());
  std::move(by.begin(), by.end(), v.own);
}

}  // namespace detail

namespace {

bool is_removed(const intrusive_ptr<Hook>& h) { return !h->active(); }
bool is_removed(const NodeHooks::OfOutput& h) { return is_removed(h.hook); }

// Appends the entry, and drops the removed ones.
template <class List, class Entry>
void append(List* list, Entry entry) {
  list->erase(std::remove_if(list->begin(), list->end(),
                             [](const auto& h) { return is_removed(h); }),
              list->end());
  list->push_back(std::move(entry));
}

NodeHooks& hooks_of(Node& n) {
  tell_capture_acts("a hook is registered");
  NodeExtra& extra = n.extra();
  if (!extra.hooks) extra.hooks = std::make_unique<NodeHooks>();
  return *extra.hooks;
}

// Makes metadata first, so that the node of a view stays the same one.
Edge edge_for_hook(const char* op, const Tensor& t) {
  SY_CHECK(t.defined() && requires_grad(t), Value,
           "[{}] self: expected a tensor that requires a gradient, got {}", op,
           describe(t));
  materialize_meta(*t.impl());
  return gradient_edge(*t.impl());
}

}  // namespace

HookHandle Node::register_pre_hook(const PreHook& hook) {
  const intrusive_ptr<Hook> h = hook.make();
  const std::lock_guard guard(lock());
  append(&hooks_of(*this).pre, h);
  return HookHandle(h);
}

HookHandle Node::register_post_hook(const PostHook& hook) {
  const intrusive_ptr<Hook> h = hook.make();
  const std::lock_guard guard(lock());
  append(&hooks_of(*this).post, h);
  return HookHandle(h);
}

}  // namespace sy::autograd

namespace sy {

using namespace autograd;  // NOLINT: methods of Tensor that are autograd's

intrusive_ptr<Node> Tensor::grad_fn() const {
  if (!defined()) return nullptr;
  if (requires_grad()) materialize_meta(*impl());
  return autograd::grad_fn(*impl());
}

HookHandle Tensor::register_hook(const TensorHook& hook) const {
  const Edge e = edge_for_hook("register_hook", *this);
  const intrusive_ptr<Hook> h = hook.make();
  const std::lock_guard guard(e.node->lock());
  append(&hooks_of(*e.node).tensor, NodeHooks::OfOutput{e.input_nr, h});
  return HookHandle(h);
}

HookHandle Tensor::register_post_accumulate_grad_hook(
    const LeafHook& hook) const {
  const Edge e = edge_for_hook("register_post_accumulate_grad_hook", *this);
  SY_CHECK(!autograd::grad_fn(*impl()), Value,
           "[register_post_accumulate_grad_hook] self: expected a leaf, got "
           "the result of {}",
           e.node->name());
  const intrusive_ptr<Hook> h = hook.make();
  const std::lock_guard guard(e.node->lock());
  append(&hooks_of(*e.node).leaf, h);
  return HookHandle(h);
}

void Tensor::remove_hook(HookHandle handle) const { handle.remove(); }

}  // namespace sy
