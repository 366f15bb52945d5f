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
#include "c10/intrusive_ptr.h"

// Functions of the user that backward runs: of tensors (Tensor::register_hook),
// of nodes (Node::register_pre_hook …) and around saved tensors. What a hook
// throws leaves backward with the node's name and the place where the hook was
// registered. A hook that holds the tensor it belongs to is a cycle of
// references, which remove() breaks.

extern "C" void* __dso_handle;  // one per shared object

namespace sy {
class LibraryToken;
}

namespace sy::autograd {

// A gradient, or a list of them, as a hook reads and replaces it.
struct HookValues {
  Tensor* own;  // to be read and replaced
  size_t count;
  const Tensor* others;  // of post hooks: the gradients that came in
  size_t other_count;
};

// One registered hook. Counted: by its node and by its handle.
class SY_API Hook final : public RefCounted {
 public:
  using Function = std::function<void(const HookValues&)>;
  // `dso`: an address in the library whose code the function is.
  Hook(Function f, const void* dso, const char* file, int line);
  ~Hook();

  // Does nothing once removed. Throws what the function throws.
  void operator()(const HookValues& v) const;
  void remove() noexcept;
  bool active() const noexcept;
  // "the hook registered at train.cpp:12"
  std::string describe() const;

 private:
  std::shared_ptr<const Function> function() const noexcept;

  mutable SpinLock lock_;
  std::shared_ptr<const Function> function_;  // none: removed
  LibraryToken* owner_;
  const char* file_;
  int line_;
};

// What registering a hook returns. May be copied and dropped: the hook stays.
class SY_API HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(intrusive_ptr<Hook> hook) : hook_(std::move(hook)) {}
  // The hook is not run again, and what it holds is freed (by a thread that is
  // just running it, afterwards). Thread-safe.
  void remove() noexcept {
    if (hook_) hook_->remove();
  }
  bool active() const noexcept { return hook_ && hook_->active(); }

 private:
  intrusive_ptr<Hook> hook_;
};

namespace detail {

[[noreturn]] SY_API SY_COLD void wrong_count(size_t expected, size_t got);
// An empty list leaves the gradients as they are.
SY_API void replace_all(const HookValues& v, std::vector<Tensor> by);

inline std::vector<Tensor> own_list(const HookValues& v) {
  return {v.own, v.own + v.count};
}
inline std::vector<Tensor> other_list(const HookValues& v) {
  return {v.others, v.others + v.other_count};
}

using Grads = const std::vector<Tensor>&;

// Converted from a callable at the place that errors name.
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

// Tensor(const Tensor& grad), or void: then, and for an undefined result, the
// gradient stays as it is. The result has its size, dtype and device.
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

// std::vector<Tensor>(const std::vector<Tensor>& grads), or void: the gradients
// of a node's outputs, before it runs. Empty: they stay as they are.
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
//                     const std::vector<Tensor>& grad_outputs), or void: what a
// node made of the gradients that came to it. Empty: it stays as it is.
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
