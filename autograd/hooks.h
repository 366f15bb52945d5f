#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "aten/tensor.h"
#include "autograd/spin_lock.h"
#include "c10/tensor/intrusive_ptr.h"

// Functions of the user that backward runs: on tensors (Tensor::register_hook),
// on nodes (Node::register_pre_hook …) and around saved tensors. If a hook
// throws, backward throws the same with the node's name and the place where the
// hook was registered. A hook that holds its own tensor makes a cycle of
// references; remove() breaks it.

extern "C" void* __dso_handle;  // one per shared object

namespace sy {
class LibraryToken;
}

namespace sy::autograd {

// A gradient, or a list of gradients, for a hook to read and replace.
struct HookValues {
  Tensor* own;  // the hook reads and may replace these
  size_t count;
  const Tensor* others;  // for post hooks: the gradients that came in
  size_t other_count;
};

// One registered hook. Its node and its handle share it.
class SY_API Hook final : public RefCounted {
 public:
  using Function = std::function<void(const HookValues&)>;
  // `dso` is an address in the library that contains the function's code.
  Hook(Function f, const void* dso, const char* file, int line);
  ~Hook();

  // Does nothing after remove(). Throws what the function throws.
  void operator()(const HookValues& v) const;
  void remove() noexcept;
  bool active() const noexcept;
  // "the hook registered at train.cpp:12"
  std::string describe() const;

 private:
  std::shared_ptr<const Function> function() const noexcept;

  mutable SpinLock lock_;
  std::shared_ptr<const Function> function_;  // nullptr after remove()
  LibraryToken* owner_;
  const char* file_;
  int line_;
};

// The result of registering a hook. It may be copied and dropped: the hook
// stays.
class SY_API HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(intrusive_ptr<Hook> hook) : hook_(std::move(hook)) {}
  // Stops the hook and frees what it holds. A thread that is just running the
  // hook frees it afterwards. Thread-safe.
  void remove() noexcept {
    if (hook_) hook_->remove();
  }
  bool active() const noexcept { return hook_ && hook_->active(); }

 private:
  intrusive_ptr<Hook> hook_;
};

namespace detail {

[[noreturn]] SY_API SY_COLD void wrong_count(size_t expected, size_t got);
// Replaces the gradients by `by`. An empty list leaves them as they are.
SY_API void replace_all(const HookValues& v, std::vector<Tensor> by);

inline std::vector<Tensor> own_list(const HookValues& v) {
  return {v.own, v.own + v.count};
}
inline std::vector<Tensor> other_list(const HookValues& v) {
  return {v.others, v.others + v.other_count};
}

using Grads = const std::vector<Tensor>&;

// A callable and the place where it became a hook, for errors.
class SY_API AnyHook {
 public:
  intrusive_ptr<Hook> make() const {
    return make_intrusive<Hook>(function_, dso_, file_, line_);
  }

 protected:
  AnyHook(Hook::Function f, const void* dso, const char* file, int line)
      : function_(std::move(f)), dso_(dso), file_(file), line_(line) {}

 private:
  Hook::Function function_;
  const void* dso_;
  const char* file_;
  int line_;
};

}  // namespace detail

// Tensor(const Tensor& grad), or void(const Tensor& grad). A defined result
// replaces the gradient and must have its size, dtype and device. Without one
// the gradient stays as it is.
class TensorHook : public detail::AnyHook {
 public:
  template <class F>
  requires std::invocable<F&, const Tensor&> TensorHook(
      F f, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : AnyHook(
            [f = std::move(f)](const HookValues& v) mutable {
              using R = std::invoke_result_t<F&, const Tensor&>;
              if constexpr (std::is_void_v<R>) {
                f(std::as_const(v.own[0]));
              } else {
                Tensor r = f(std::as_const(v.own[0]));
                if (r.defined()) v.own[0] = std::move(r);
              }
            },
            &__dso_handle, file, line) {}
};

// void(const Tensor& leaf).
class LeafHook : public detail::AnyHook {
 public:
  template <class F>
  requires std::invocable<F&, const Tensor&> LeafHook(
      F f, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : AnyHook(
            [f = std::move(f)](const HookValues& v) mutable {
              f(std::as_const(v.own[0]));
            },
            &__dso_handle, file, line) {}
};

// std::vector<Tensor>(const std::vector<Tensor>& grads), or void. Runs before a
// node, on the gradients of its outputs. An empty result leaves them as they
// are.
class PreHook : public detail::AnyHook {
 public:
  template <class F>
  requires std::invocable<F&, detail::Grads> PreHook(
      F f, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : AnyHook(
            [f = std::move(f)](const HookValues& v) mutable {
              using R = std::invoke_result_t<F&, detail::Grads>;
              if constexpr (std::is_void_v<R>) {
                f(detail::own_list(v));
              } else {
                detail::replace_all(v, f(detail::own_list(v)));
              }
            },
            &__dso_handle, file, line) {}
};

// std::vector<Tensor>(const std::vector<Tensor>& grad_inputs,
//                     const std::vector<Tensor>& grad_outputs), or void. Runs
// after a node, on the gradients that it made of those that came to it. An
// empty result leaves them as they are.
class PostHook : public detail::AnyHook {
 public:
  template <class F>
  requires std::invocable<F&, detail::Grads, detail::Grads> PostHook(
      F f, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : AnyHook(
            [f = std::move(f)](const HookValues& v) mutable {
              using R = std::invoke_result_t<F&, detail::Grads, detail::Grads>;
              if constexpr (std::is_void_v<R>) {
                f(detail::own_list(v), detail::other_list(v));
              } else {
                detail::replace_all(
                    v, f(detail::own_list(v), detail::other_list(v)));
              }
            },
            &__dso_handle, file, line) {}
};

// The hooks of one node, in the order of registration.
struct NodeHooks {
  struct OfOutput {
    uint32_t output;
    intrusive_ptr<Hook> hook;
  };
  std::vector<OfOutput> tensor;
  std::vector<intrusive_ptr<Hook>> pre, post, leaf;
};

}  // namespace sy::autograd
