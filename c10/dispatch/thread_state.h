#pragma once

#include <atomic>
#include <cstdint>

#include "c10/dispatch/dispatch_key_set.h"
#include "c10/macros.h"

namespace sy {

class CaptureHooks;
struct TransformLayer;

// The modes that are on for the calls of a thread. Guards set them. Code that
// continues the work of one thread in another takes them along. All zero means
// that nothing is on.
struct ThreadModes {
  uint64_t included = 0;  // raw DispatchKeySets
  uint64_t excluded = 0;
  bool grad_disabled = false;
  bool inference = false;
  bool interpreted = false;  // compiled programs are not used
  uint8_t reserved[5] = {};
  // The innermost transform (a vectorising map, a gradient as a function). Each
  // knows the next one out. Calls reach them by the keys TransformFront and
  // TransformBack.
  TransformLayer* transforms = nullptr;
  // Autocast: one bit for each device type that it is on for, and the dtype of
  // each, as 1 + ScalarType. Calls reach it by the key Autocast.
  uint32_t autocast_devices = 0;
  uint8_t autocast_dtypes[32] = {};
  // The code that captures the calls of this thread; nullptr if there is none.
  CaptureHooks* capture = nullptr;
};

struct CallsInFlight {
  // Calls in flight: their depth in the low 16 bits, the number of finished
  // outermost calls above. Only this thread writes it; whoever unloads a
  // library reads it. 0 until the first call registers the thread.
  std::atomic<uint64_t> calls{0};
};

// The state of a thread. All that every call reads is in the first cache line.
// Zero at thread start.
struct alignas(64) ThreadState : CallsInFlight, ThreadModes {};

extern SY_API SY_TLS_FAST constinit thread_local ThreadState thread_state;

namespace detail {
SY_API SY_COLD void enter_first_call() noexcept;
}

// Marks a call of the dispatcher as in flight, so that unloading waits for it.
// It costs two plain stores: the other side pays (membarrier).
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

// The thread has these modes in its scope; by default none is on.
class ThreadModesGuard {
 public:
  explicit ThreadModesGuard(const ThreadModes& modes = {}) noexcept
      : before_(thread_state) {
    static_cast<ThreadModes&>(thread_state) = modes;
  }
  ~ThreadModesGuard() { static_cast<ThreadModes&>(thread_state) = before_; }
  ThreadModesGuard(const ThreadModesGuard&) = delete;
  ThreadModesGuard& operator=(const ThreadModesGuard&) = delete;

 private:
  const ThreadModes before_;
};

// Calls in its scope are made at once, below autograd and all that the program
// has switched on: those of code that computes what the program asked for
// before.
class PlainModes : public ThreadModesGuard {
 public:
  PlainModes() noexcept : ThreadModesGuard(modes()) {}

 private:
  static ThreadModes modes() noexcept {
    ThreadModes plain;
    plain.excluded = DispatchKeySet(DispatchKey::Autograd).bits();
    plain.grad_disabled = true;
    return plain;
  }
};

// While they live, these add keys to (remove keys from) every call of this
// thread.
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

// Calls in its scope skip Autograd. Autograd's own kernels use it.
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

// Results computed in its scope never take part in backward. Calls skip
// Autograd, and new tensors are inference tensors: no operator may save one for
// its gradient, now or later, or write one outside of the mode. Tensors made
// before stay as they are, and so do their views. InferenceMode(false) within
// another one ends it for its own scope.
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
