#include "autograd/meta.h"

#include <mutex>

#include "autograd/accumulate.h"
#include "autograd/hooks.h"
#include "autograd/view.h"

namespace sy::autograd {

Meta::~Meta() {
  intrusive_ptr<Node>::reclaim(accumulator.load(std::memory_order_acquire));
}

Meta& materialize_meta(TensorImpl& t) {
  if (t.autograd_meta() == nullptr) t.set_autograd_meta(new Meta);
  return *meta_of(t);
}

namespace {

// Whether meta's grad_fn holds for what the storage contains now.
bool is_current(const Meta& m, const TensorImpl& t) {
  return m.attr_version.load(std::memory_order_acquire) == t.version();
}

bool has_node(const Meta& m) {
  const std::lock_guard guard(m.lock);
  return static_cast<bool>(m.grad_fn);
}

// Whether a view whose own grad_fn is outdated or was never made takes one
// from the base. A leaf base does not count unless the view came from it: a
// view made before requires_grad_() is no part of the graph.
bool follows_base(const TensorImpl& t, const TensorImpl** base) {
  *base = differentiable_root(t);
  if (*base == nullptr) return false;
  const Meta* b = meta_of(**base);
  if (b == nullptr) return false;
  if (b->grad_fn) return true;
  const Meta* m = meta_of(t);
  return b->requires_grad && m != nullptr && has_node(*m);
}

Edge own_edge(const Meta& m) { return {m.grad_fn, m.output_nr}; }

// A custom Function has returned a view of its input, made in no-grad mode as
// all in its forward.
[[noreturn]] SY_COLD void lost_history(const Meta& m, const TensorImpl& t) {
  const OperatorEntry* writer = t.storage()->last_writer();
  fail(ErrorKind::Error,
       "[{}] its result is a view of a tensor that was overwritten by {}, so "
       "that it has no gradient any more: return a clone",
       m.grad_fn->name(),
       writer != nullptr ? display_name(*writer)
                         : "a write that no operator made");
}

// Keeps the gradient of `t` where it arrives from now on. The node where it
// arrived before sees that it is no longer the one.
void retain_at(const TensorImpl& t, const Edge& to) {
  to.node->extra().retained.push_back(
      {to.input_nr,
       weak_intrusive_ptr<TensorImpl>(
           intrusive_ptr<TensorImpl>::retain(const_cast<TensorImpl*>(&t)))});
}

Edge edge_of_view(const TensorImpl& t) {
  Meta* m = meta_of(t);
  if (m != nullptr && (m->requires_grad || is_current(*m, t))) {
    return own_edge(*m);
  }
  const TensorImpl* base = nullptr;
  if (!follows_base(t, &base)) {
    if (base == nullptr && m != nullptr && has_node(*m)) lost_history(*m, t);
    return {};
  }
  const TensorBase self(
      intrusive_ptr<TensorImpl>::retain(const_cast<TensorImpl*>(&t)));
  Edge fresh = view_edge(gradient_edge(*base), Geometry(*base), self);
  // Without metadata there is no place to keep it that other threads would
  // not be reading.
  if (m == nullptr) return fresh;
  const std::lock_guard guard(m->lock);
  if (!is_current(*m, t)) {
    if (SY_UNLIKELY(m->retains_grad)) retain_at(t, fresh);
    m->grad_fn = std::move(fresh.node);
    m->output_nr = fresh.input_nr;
    m->attr_version.store(t.version(), std::memory_order_release);
  }
  return own_edge(*m);
}

}  // namespace

bool requires_grad(const TensorImpl& t) {
  const Meta* m = meta_of(t);
  if (m != nullptr && m->requires_grad) return true;
  if (!t.view_meta()) return m != nullptr && m->grad_fn;
  if (m != nullptr && is_current(*m, t)) return static_cast<bool>(m->grad_fn);
  const TensorImpl* base = nullptr;
  if (follows_base(t, &base)) return true;
  return base == nullptr && m != nullptr && has_node(*m);
}

Edge gradient_edge(const TensorImpl& t) {
  Edge e;
  const Meta* m = meta_of(t);
  if (SY_UNLIKELY(static_cast<bool>(t.view_meta()))) {
    e = edge_of_view(t);
  } else if (m != nullptr) {
    e = own_edge(*m);
  }
  if (!e.node && m != nullptr && m->requires_grad) e.node = accumulator_of(t);
  return e;
}

intrusive_ptr<Node> grad_fn(const TensorImpl& t) {
  const Meta* m = meta_of(t);
  if (t.view_meta()) return edge_of_view(t).node;
  return m == nullptr ? nullptr : m->grad_fn;
}

void set_gradient_edge(TensorImpl& t, Edge edge) {
  Meta& m = materialize_meta(t);
  if (SY_UNLIKELY(m.retains_grad)) retain_at(t, edge);
  m.grad_fn = std::move(edge.node);
  m.output_nr = edge.input_nr;
  m.attr_version.store(t.version(), std::memory_order_release);
  t.add_keys(DispatchKey::Autograd);
}

intrusive_ptr<Node> accumulator_of(const TensorImpl& leaf) {
  Meta& m = *meta_of(leaf);
  Node* n = m.accumulator.load(std::memory_order_acquire);
  if (SY_LIKELY(n != nullptr && n->output(0).matches(leaf))) {
    return intrusive_ptr<Node>::retain(n);
  }
  const std::lock_guard guard(m.lock);
  n = m.accumulator.load(std::memory_order_acquire);
  if (n == nullptr || !n->output(0).matches(leaf)) {
    const auto self =
        intrusive_ptr<TensorImpl>::retain(const_cast<TensorImpl*>(&leaf));
    intrusive_ptr<Node> fresh = make_intrusive<AccumulateGrad>(self);
    fresh->add_output(TensorBase(self));
    if (n != nullptr && n->extra_or_null() != nullptr) {
      fresh->extra().hooks = std::move(n->extra().hooks);
    }
    intrusive_ptr<Node>::reclaim(
        m.accumulator.exchange(fresh.release(), std::memory_order_acq_rel));
    n = m.accumulator.load(std::memory_order_relaxed);
  }
  return intrusive_ptr<Node>::retain(n);
}

}  // namespace sy::autograd
