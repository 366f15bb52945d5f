#pragma once

#include <atomic>
#include <mutex>

#include "c10/macros.h"

// Note [Forks]
// After `fork` the child has one thread, and all that the others held stays as
// it was at that moment. So a fork waits until no other thread holds a lock of
// this header or is within a ForkSection, holds them all while the process is
// copied, and gives them back in both processes. It tries them all and begins
// anew when one is taken, so locks need no order. Meanwhile threads that hold
// none wait for a moment before they take one. After kLongestWait it goes on;
// the child then makes the locks that were taken anew.
//
// Each lock of the library that the child may need is one of these. A lint rule
// (tools/lint) holds it.

namespace sy {

namespace detail {
struct ForkList;
}

// A std::mutex that a fork waits for. It may be a constinit global, and be used
// after static destruction.
class SY_API ForkMutex {
 public:
  constexpr ForkMutex() noexcept = default;
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock();
  bool try_lock();
  void unlock();

 protected:
  // Whether this thread holds it.
  bool is_mine() const noexcept;
  int depth_ = 0;  // of a recursive one

 private:
  friend struct detail::ForkList;

  std::mutex mutex_;
  std::atomic<const void*> owner_{nullptr};
  ForkMutex* next_ = nullptr;
  ForkMutex* previous_ = nullptr;
  std::atomic<bool> listed_{false};
  bool taken_ = false;  // by a fork
};

// A std::recursive_mutex that a fork waits for.
class SY_API RecursiveForkMutex : public ForkMutex {
 public:
  constexpr RecursiveForkMutex() noexcept = default;

  void lock();
  bool try_lock();
  void unlock();
};

// While it lives, other threads' forks wait: for what takes locks of other
// libraries. Several threads may be in one.
class SY_API ForkSection {
 public:
  ForkSection();
  ~ForkSection();
  ForkSection(const ForkSection&) = delete;
  ForkSection& operator=(const ForkSection&) = delete;
};

// The value of make(), called once; forks of other threads wait meanwhile. A
// function-local static would be left half made in the child. A constinit
// object; T starts as T().
template <class T>
class ForkOnce {
 public:
  constexpr ForkOnce() noexcept = default;

  // What make throws is passed on; the next call tries again.
  template <class F>
  const T& get(const F& make) {
    if (SY_UNLIKELY(!made_.load(std::memory_order_acquire))) {
      const std::lock_guard lock(mutex_);
      if (!made_.load(std::memory_order_relaxed)) {
        value_ = make();
        made_.store(true, std::memory_order_release);
      }
    }
    return value_;
  }

 private:
  std::atomic<bool> made_{false};
  T value_{};
  RecursiveForkMutex mutex_;
};

// Something else that takes part in forks, such as a thread with a queue.
// Leaked, or a global. Its thread enters a ForkSection before it is at work
// again: one that is at rest for an instant alone is never found so.
struct ForkParticipant {
  // Takes what a fork must find at rest, without waiting; false, and takes
  // nothing, if it is not at rest.
  bool (*take)();
  // Gives it back. In a child it may not have been taken, and has to be made
  // anew.
  void (*give_back)(bool in_child);
  ForkParticipant* next = nullptr;
};
SY_API void add_fork_participant(ForkParticipant& p);

// While it lives, forks of this thread wait for nobody: for children that do
// next to nothing. Such a child finds all locks free.
class SY_API QuickFork {
 public:
  QuickFork() noexcept;
  ~QuickFork();
  QuickFork(const QuickFork&) = delete;
  QuickFork& operator=(const QuickFork&) = delete;
};

}  // namespace sy
