#pragma once

#include <atomic>
#include <cstdint>

#include "autograd/node.h"
#include "c10/autograd_meta.h"

namespace sy::autograd {

// What autograd keeps with a tensor: made for leaves that require a gradient
// and for results of recorded operations. Fields are written by whoever may
// write the tensor; what const operations fill in later (accumulator, grad_fn
// of a view) is under the lock.
struct SY_API Meta final : public AutogradMeta {
  Meta() noexcept = default;
  ~Meta() override;

  intrusive_ptr<Node> grad_fn;  // none: a leaf
  Tensor grad;
  // Of leaves. It refers to the tensor weakly, so that this is no cycle.
  std::atomic<Node*> accumulator{nullptr};
  uint32_t output_nr = 0;
  // Of views: the version of the storage for which grad_fn holds.
  std::atomic<uint32_t> attr_version{0};
  bool requires_grad = false;  // of leaves: as the user said
  bool retains_grad = false;
  mutable SpinLock lock;

  static void* operator new(size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* p, size_t bytes) noexcept {
    pool_free(p, bytes);
  }
};

inline Meta* meta_of(const TensorImpl& t) noexcept {
  return static_cast<Meta*>(t.autograd_meta());
}
// Makes one if there is none.
SY_API Meta& materialize_meta(TensorImpl& t);

// Whether gradients flow to this tensor: a leaf that says so, a recorded
// result, or a view of such a tensor (as of now, whatever was written to it).
SY_API bool requires_grad(const TensorImpl& t);
inline bool requires_grad(const TensorBase& t) {
  const TensorImpl* i = t.impl();
  return i != nullptr && i->key_set().has(DispatchKey::Autograd) &&
         requires_grad(*i);
}

// Where gradients of `t` go: the node that made it, or its accumulator.
// Nothing if it requires none.
SY_API Edge gradient_edge(const TensorImpl& t);
// The node that made it; nullptr for leaves.
SY_API intrusive_ptr<Node> grad_fn(const TensorImpl& t);
// From now on `t` is output `edge.input_nr` of `edge.node`.
SY_API void set_gradient_edge(TensorImpl& t, Edge edge);
// The node that adds to .grad of a leaf; made on first use, thread-safe.
SY_API intrusive_ptr<Node> accumulator_of(const TensorImpl& leaf);

}  // namespace sy::autograd
