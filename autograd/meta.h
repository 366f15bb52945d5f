#pragma once

#include <atomic>
#include <cstdint>

#include "autograd/node.h"
#include "c10/tensor/autograd_meta.h"

namespace sy::autograd {

// The data that autograd keeps with a tensor. Leaves that require a gradient
// and results of recorded operations have it. Code that may write the tensor
// may write the fields. The lock protects the fields that const operations fill
// in later (accumulator, grad_fn of a view).
struct SY_API Meta final : public AutogradMeta {
  Meta() noexcept = default;
  ~Meta() override;

  intrusive_ptr<Node> grad_fn;  // none: a leaf
  Tensor grad;
  // For leaves. It refers to the tensor weakly, so there is no cycle.
  std::atomic<Node*> accumulator{nullptr};
  uint32_t output_nr = 0;
  // For views: the version of the storage for which grad_fn holds.
  std::atomic<uint32_t> attr_version{0};
  bool requires_grad = false;  // for leaves: as the user said
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
// Makes the data if there is none.
SY_API Meta& materialize_meta(TensorImpl& t);

// Whether gradients flow to this tensor: a leaf that requires one, a recorded
// result, or a view of such a tensor (now, after whatever was written to it).
SY_API bool requires_grad(const TensorImpl& t);
inline bool requires_grad(const TensorBase& t) {
  const TensorImpl* i = t.impl();
  return i != nullptr && i->key_set().has(DispatchKey::Autograd) &&
         requires_grad(*i);
}

// The target of gradients of `t`: the node that made it, or its accumulator.
// The edge is empty if t requires none.
SY_API Edge gradient_edge(const TensorImpl& t);
// The node that made it; nullptr for leaves.
SY_API intrusive_ptr<Node> grad_fn(const TensorImpl& t);
// From now on `t` is output `edge.input_nr` of `edge.node`.
SY_API void set_gradient_edge(TensorImpl& t, Edge edge);
// The node that adds to .grad of a leaf; made on first use, thread-safe.
SY_API intrusive_ptr<Node> accumulator_of(const TensorImpl& leaf);

}  // namespace sy::autograd
