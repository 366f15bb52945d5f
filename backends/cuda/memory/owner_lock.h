#pragma once

#include <atomic>

#include "c10/macros.h"

namespace sy::cuda {

namespace detail {
// Whether the system makes other threads' stores visible on demand
// (membarrier). Set while the library is loaded.
extern const bool has_remote_fences;
}  // namespace detail

// A lock that one thread, the owner, takes very often, and others hardly ever.
// For the owner it is a store and a load; others pay with a system call that
// interrupts all threads. See Note [Owner lock] in owner_lock.cpp.
class OwnerLock {
 public:
  // For the owner.
  void enter() noexcept {
    if (SY_LIKELY(detail::has_remote_fences)) {
      busy_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      busy_.exchange(true, std::memory_order_seq_cst);
    }
    if (SY_UNLIKELY(wanted_.load(std::memory_order_seq_cst))) wait();
  }
  void leave() noexcept { busy_.store(false, std::memory_order_release); }

  // For other threads, one at a time: want() on all locks that they need, then
  // fence(), then await() on each; it is theirs until done().
  void want() noexcept { wanted_.store(true, std::memory_order_seq_cst); }
  static void fence() noexcept;
  void await() noexcept;
  void done() noexcept { wanted_.store(false, std::memory_order_release); }

 private:
  SY_NOINLINE void wait() noexcept;

  std::atomic<bool> busy_{false};
  std::atomic<bool> wanted_{false};
};

}  // namespace sy::cuda
