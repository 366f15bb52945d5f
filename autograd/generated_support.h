#pragma once

#include <atomic>
#include <optional>
#include <string_view>
#include <vector>

#include "autograd/meta.h"
#include "autograd/node.h"
#include "autograd/saved_meta.h"
#include "autograd/saved_tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/plugin/library.h"

// Support for generated kernels of the Autograd key (see README.md).

namespace sy::autograd {

constexpr DispatchKeySet below_autograd(DispatchKeySet keys) {
  return keys & DispatchKeySet::below(DispatchKey::Autograd);
}

namespace detail {

SY_ALWAYS_INLINE bool wants_grad(const TensorBase& t) {
  return requires_grad(t);
}
template <class T>
bool wants_grad(const std::optional<T>& t) {
  return t.has_value() && wants_grad(*t);
}
template <class T>
bool wants_grad(ArrayRef<T> list) {
  for (const auto& t : list) {
    if (wants_grad(t)) return true;
  }
  return false;
}

SY_API void collect_edge(const TensorImpl& t, Edge* e);
SY_ALWAYS_INLINE void collect_edge(const TensorBase& t, Edge* e) {
  const TensorImpl* i = t.impl();
  if (i != nullptr && i->key_set().has(DispatchKey::Autograd)) {
    collect_edge(*i, e);
  }
}
template <class T>
void collect_edge(const std::optional<T>& t, Edge* e) {
  if (t.has_value()) collect_edge(*t, e);
}

template <class T>
void append_edges(std::vector<Edge>* edges, const T& t) {
  collect_edge(t, &edges->emplace_back());
}
template <class T>
void append_edges(std::vector<Edge>* edges, const ArrayRef<T>& list) {
  for (const auto& t : list) append_edges(edges, t);
}

// The plugin that contains the address `dso`; nullptr if that is no plugin.
SY_API LibraryToken* owner_of(const void* dso) noexcept;
SY_API void hold_owner(Node& node, LibraryToken* owner);

// owner_of(dso), looked up once: a constinit object. See KnownOperator.
class KnownOwner {
 public:
  constexpr KnownOwner() noexcept = default;
  SY_ALWAYS_INLINE LibraryToken* get(const void* dso) noexcept {
    if (SY_UNLIKELY(!known_.load(std::memory_order_acquire))) look_up(dso);
    return owner_.load(std::memory_order_relaxed);
  }

 private:
  SY_NOINLINE void look_up(const void* dso) noexcept {
    owner_.store(owner_of(dso), std::memory_order_relaxed);
    known_.store(true, std::memory_order_release);
  }
  std::atomic<bool> known_{false};
  std::atomic<LibraryToken*> owner_{nullptr};
};

}  // namespace detail

// Whether the call is recorded. Arguments may be Tensors, optionals and lists.
template <class... A>
SY_ALWAYS_INLINE bool any_requires_grad(const A&... args) {
  return GradMode::is_enabled() && (detail::wants_grad(args) || ...);
}

namespace detail {
SY_API bool is_hidden_view(const TensorImpl& t);
}
// The same for an in-place operator that writes `self`. It is also true if self
// is a view, made in no-grad mode, of a tensor that requires a gradient:
// check_inplace then rejects it.
template <class... A>
SY_ALWAYS_INLINE bool inplace_requires_grad(const Tensor& self,
                                            const A&... args) {
  return any_requires_grad(self, args...) ||
         (SY_UNLIKELY(self.defined() && self.impl()->view_meta()) &&
          GradMode::is_enabled() && detail::is_hidden_view(*self.impl()));
}

// Makes a node for one call of `op`. Its edges lead to where the arguments came
// from.
template <class T, class... A>
intrusive_ptr<T> make_node(const OperatorEntry& op, const A&... args) {
  static constinit detail::KnownOwner known_owner;
  LibraryToken* const owner = known_owner.get(&__dso_handle);
  auto node = make_intrusive<T>();
  node->set_op(op);
  if (SY_UNLIKELY(owner != nullptr)) detail::hold_owner(*node, owner);
  if constexpr (requires { T::kArguments; }) {
    static_assert(sizeof...(A) == T::kArguments);
    [[maybe_unused]] int i = 0;
    (detail::collect_edge(args, &node->edge_slot(i++)), ...);
  } else {
    std::vector<Edge> edges;
    std::vector<uint32_t> starts{0};
    const auto append = [&](const auto& a) {
      detail::append_edges(&edges, a);
      starts.push_back(static_cast<uint32_t>(edges.size()));
    };
    (append(args), ...);
    node->set_edges(std::move(edges), std::move(starts));
  }
  return node;
}

// Makes `result` the next output of `node`. A result that is not floating gets
// no history.
SY_API void set_history(Tensor& result, intrusive_ptr<Node> node);
inline void set_history(std::vector<Tensor>& results,
                        const intrusive_ptr<Node>& node) {
  for (Tensor& r : results) set_history(r, node);
}
// The same for several views from one operator. They must not be written in
// place while something requires a gradient.
SY_API void set_history_views(std::vector<Tensor>& results,
                              const intrusive_ptr<Node>& node);
// Counts an output that has no gradient.
SY_API void skip_output(Node& node);
inline void skip_output(const intrusive_ptr<Node>& node) { skip_output(*node); }

// Call this before an in-place write that is recorded. Throws ValueError if
// self is a leaf that requires a gradient, a view of such a leaf, a view made
// in no-grad mode, or one of several views from one operator.
SY_API void check_inplace(const OperatorEntry& op, const Tensor& self);
// The same for a writer with that name that is not an operator.
SY_API void check_inplace(std::string_view writer, const Tensor& self);
// A copy of a value that an in-place operator is about to overwrite and a
// formula needs. It has the history of `self`.
SY_API Tensor clone_before_write(const Tensor& self);
// Saves another argument of such an operator. If it is `self` again, a copy is
// saved: otherwise its memory would hold what was written, and its history
// would be the new node.
inline void save_before_write(SavedTensor& saved, const Tensor& t,
                              const Tensor& self) {
  // A view of self, too, would be changed, and hold the history that holds it.
  if (SY_UNLIKELY(t.defined() && t.is_alias_of(self))) {
    saved.save(clone_before_write(t));
  } else {
    saved.save(t);
  }
}
// Call this after the write. It makes `self` the next output of `node`, whose
// edge 0 leads to the history that self had before. For a view, it changes the
// history of the base.
SY_API void rebase_history(Tensor& self, intrusive_ptr<Node> node);

// Throws ValueError: out= cannot be differentiated.
[[noreturn]] SY_API SY_COLD void reject_out(const OperatorEntry& op);

}  // namespace sy::autograd
