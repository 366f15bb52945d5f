#pragma once

#include <atomic>
#include <mutex>

#include "c10/macros.h"

// Note [Forks]
// After `fork` the child has one thread, and all that the others held stays as
// it was at that moment. So a fork waits until no other thread is within a
// ForkSection; all locks that a child may need are locks of this header, and
// who holds one is within a section. Meanwhile threads that are in none wait
// before they enter one. When the fork has waited for some milliseconds in
// vain, it lets them in for a moment and begins anew: who is within a section
// may wait for them. After a minute it goes on, and the child may hang.
//
// A function-local static is made under a lock of the compiler's. If what makes
// it enters a section, or takes long, enter a section before it: another thread
// would leave it half made in the child.
//
// A lint rule (tools/lint) finds locks that are none of these.

namespace sy {

// While it lives, other threads' forks wait. Several threads may be in one, and
// a thread in several.
class SY_API ForkSection {
 public:
  ForkSection() noexcept;
  ~ForkSection();
  ForkSection(const ForkSection&) = delete;
  ForkSection& operator=(const ForkSection&) = delete;
};

// A std::mutex whose holder is within a ForkSection. It may be a constinit
// global, and be used after static destruction.
class SY_API ForkMutex {
 public:
  constexpr ForkMutex() noexcept = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock();
  bool try_lock();
  void unlock();

 private:
  std::mutex mutex_;
};

// The same of a std::recursive_mutex. The thread that forks stays its holder in
// the child.
class SY_API RecursiveForkMutex {
 public:
  constexpr RecursiveForkMutex() noexcept = default;
  RecursiveForkMutex(const RecursiveForkMutex&) = delete;
  RecursiveForkMutex& operator=(const RecursiveForkMutex&) = delete;

  void lock();
  bool try_lock();
  void unlock();

 private:
  ForkMutex mutex_;
  std::atomic<const void*> owner_{nullptr};
  int depth_ = 0;
};

// While it lives, forks of this thread wait for nobody: for children that use
// nothing of the library's.
class SY_API QuickFork {
 public:
  QuickFork() noexcept;
  ~QuickFork();
  QuickFork(const QuickFork&) = delete;
  QuickFork& operator=(const QuickFork&) = delete;
};

// For handlers of pthread_atfork that run in the child: whether the fork has
// found all other threads outside of sections, so that what locks guard is
// whole.
SY_API bool forked_at_rest() noexcept;

}  // namespace sy
