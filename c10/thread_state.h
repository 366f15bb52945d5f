#pragma once

#include <atomic>
#include <cstdint>

#include "c10/dispatch_key_set.h"
#include "c10/macros.h"

namespace sy {

struct ModeLayer;
struct TransformLayer;

// What the calls of a thread are made under: guards set it, and what goes on
// with the work of one thread in another takes it along. All zero means that
// nothing is on.
struct ThreadModes {
  uint64_t included = 0;  // raw DispatchKeySets
  uint64_t excluded = 0;
  bool grad_disabled = false;
  bool inference = false;
  uint8_t reserved[6] = {};
  // The innermost of the transforms (vectorising maps, gradients as functions)
  // and of the modes that see every call; each knows the next. The keys
  // TransformFront, TransformBack and Mode lead to them.
  TransformLayer* transforms = nullptr;
  ModeLayer* modes = nullptr;
  // Autocast: the device types that it is on for, a bit each, and the dtype of
  // each, as 1 + ScalarType. The key Autocast leads to it.
  uint32_t autocast_devices = 0;
  uint8_t autocast_dtypes[32] = {};
};

struct CallsInFlight {
  // Calls in flight: depth in the low 16 bits, finished outermost calls above.
  // Written by this thread only, read by whoever unloads a library. 0 until
  // the thread is known to it.
  std::atomic<uint64_t> calls{0};
};

// What a call reads of its thread, in one cache line. Zero at thread start.
struct alignas(64) ThreadState : CallsInFlight, ThreadModes {};

extern SY_API SY_TLS_FAST constinit thread_local ThreadState thread_state;

namespace detail {
SY_API SY_COLD void enter_first_call() noexcept;
}

// Marks a call of the dispatcher in flight, so that unloading waits for it.
// Two plain stores: the other side pays (membarrier).
class CallScope {
 public:
  SY_ALWAYS_INLINE CallScope() noexcept {
    ThreadState& s = thread_state;
    const uint64_t c = s.calls.load(std::memory_order_relaxed);
    if (SY_UNLIKELY(c == 0)) {
      detail::enter_first_call();
    } else {
      s.calls.store(c + 1, std::memory_order_relaxed);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  SY_ALWAYS_INLINE ~CallScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    ThreadState& s = thread_state;
    uint64_t c = s.calls.load(std::memory_order_relaxed) - 1;
    if ((c & 0xffff) == 0) c += 0x10000;
    s.calls.store(c, std::memory_order_release);
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
};

// Adds to (removes from) the keys of every call of this thread while it lives.
class IncludeDispatchKeyGuard {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys) noexcept
      : before_(thread_state.included) {
    thread_state.included |= keys.bits();
  }
  ~IncludeDispatchKeyGuard() { thread_state.included = before_; }
  IncludeDispatchKeyGuard(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard& operator=(const IncludeDispatchKeyGuard&) = delete;

 private:
  uint64_t before_;
};

class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys) noexcept
      : before_(thread_state.excluded) {
    thread_state.excluded |= keys.bits();
  }
  ~ExcludeDispatchKeyGuard() { thread_state.excluded = before_; }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  uint64_t before_;
};

// Calls in its scope skip Autograd: what kernels below it use.
class AutoDispatchBelowAutograd : public ExcludeDispatchKeyGuard {
 public:
  AutoDispatchBelowAutograd() noexcept
      : ExcludeDispatchKeyGuard(DispatchKey::Autograd) {}
};

struct GradMode {
  static bool is_enabled() noexcept { return !thread_state.grad_disabled; }
  static void set_enabled(bool v) noexcept { thread_state.grad_disabled = !v; }
};

class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) noexcept
      : before_(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(before_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() noexcept : AutoGradMode(false) {}
};

// What is computed in its scope never takes part in backward: calls skip
// Autograd, and new tensors are inference tensors, which no operator may save
// for its gradient, now or later, nor write outside of the mode. Tensors made
// before keep their meaning, and so do their views. InferenceMode(false) within
// one ends it for its own scope.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true) noexcept
      : excluded_(thread_state.excluded),
        grad_disabled_(thread_state.grad_disabled),
        inference_(thread_state.inference) {
    constexpr uint64_t kAutograd = DispatchKeySet(DispatchKey::Autograd).bits();
    thread_state.excluded =
        enabled ? excluded_ | kAutograd : excluded_ & ~kAutograd;
    thread_state.grad_disabled = enabled;
    thread_state.inference = enabled;
  }
  ~InferenceMode() {
    thread_state.excluded = excluded_;
    thread_state.grad_disabled = grad_disabled_;
    thread_state.inference = inference_;
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

  static bool is_enabled() noexcept { return thread_state.inference; }

 private:
  uint64_t excluded_;
  bool grad_disabled_, inference_;
};

}  // namespace sy
