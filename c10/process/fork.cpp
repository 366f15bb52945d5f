#include "c10/process/fork.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>

#include "c10/memory/cpu_memory.h"

namespace sy {

// The state of this thread, whose address names the thread. It is not in an
// unnamed namespace: gold takes all names of those for one another where the
// model is initial-exec.
struct ForkThread {
  int depth = 0;  // sections and locks
  bool quick = false, at_rest = false;
};
SY_TLS_FAST constinit thread_local ForkThread fork_thread;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr milliseconds kLongestWait{60'000};
constexpr milliseconds kFirstPatience{5}, kMostPatience{80};

// How many threads are within a section, by groups of threads, so that they
// need not share a cache line.
constexpr int kGroupBits = 6;
struct alignas(64) Group {
  std::atomic<int> inside{0};
};
constinit Group groups[1 << kGroupBits];

// Odd while a fork waits, or is being made.
constinit std::atomic<uint32_t> turn{0};
constinit std::mutex forking;

const void* self() noexcept { return &fork_thread; }

Group& own_group() noexcept {
  // Threads' stacks, where this is, are pages apart.
  const uint64_t page = reinterpret_cast<uintptr_t>(self()) >> 12;
  return groups[page * 0x9E3779B97F4A7C15 >> (64 - kGroupBits)];
}

void pause() noexcept {
  const timespec t{0, 30'000};
  nanosleep(&t, nullptr);
}

// The thread counts as inside on entry and on return.
SY_NOINLINE void let_fork_go_first(Group& group) noexcept {
  for (uint32_t now = turn.load(); (now & 1) != 0; now = turn.load()) {
    group.inside.fetch_sub(1);
    while (turn.load() == now) pause();
    group.inside.fetch_add(1);
  }
}

// Either a fork sees that this thread is inside, or this thread sees the fork.
void enter() noexcept {
  if (fork_thread.depth++ != 0) return;
  Group& group = own_group();
  group.inside.fetch_add(1);
  if (SY_UNLIKELY((turn.load() & 1) != 0)) let_fork_go_first(group);
}

void leave() noexcept {
  if (--fork_thread.depth == 0) own_group().inside.fetch_sub(1);
}

// `mine`: whether this thread is inside.
bool others_leave_until(Clock::time_point end, bool mine) noexcept {
  for (Group& g : groups) {
    const int own = mine && &g == &own_group() ? 1 : 0;
    while (g.inside.load() != own) {
      if (Clock::now() > end) return false;
      pause();
    }
  }
  return true;
}

bool wait_for_others(bool mine) noexcept {
  const auto last = Clock::now() + kLongestWait;
  for (milliseconds patience = kFirstPatience;;
       patience = std::min(2 * patience, kMostPatience)) {
    turn.fetch_add(1);
    const auto now = Clock::now();
    if (others_leave_until(now + patience, mine)) return true;
    if (now > last) return false;
    turn.fetch_add(1);
    for (const auto end = Clock::now() + patience / 4; Clock::now() < end;) {
      pause();
    }
  }
}

void before_fork() noexcept {
  fork_thread.at_rest = false;
  if (!fork_thread.quick) {
    forking.lock();
    fork_thread.at_rest = wait_for_others(fork_thread.depth > 0);
    ++fork_thread.depth;  // this thread's handlers take locks
  }
  detail::lock_memory_for_fork();
}

void after_fork_in_parent() noexcept {
  detail::unlock_memory_after_fork(false);
  if (fork_thread.quick) return;
  --fork_thread.depth;
  turn.fetch_add(1);
  forking.unlock();
}

// The other threads are gone.
void after_fork_in_child() noexcept {
  detail::unlock_memory_after_fork(true);
  if (!fork_thread.quick) --fork_thread.depth;
  for (Group& g : groups) g.inside.store(0);
  if (fork_thread.depth > 0) own_group().inside.store(1);
  turn.store(0);
  new (&forking) std::mutex;
}

[[maybe_unused]] const int handlers =
    pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);

}  // namespace

ForkSection::ForkSection() noexcept { enter(); }
ForkSection::~ForkSection() { leave(); }

void ForkMutex::lock() {
  enter();
  mutex_.lock();
}

bool ForkMutex::try_lock() {
  enter();
  if (mutex_.try_lock()) return true;
  leave();
  return false;
}

void ForkMutex::unlock() {
  mutex_.unlock();
  leave();
}

void RecursiveForkMutex::lock() {
  if (owner_.load(std::memory_order_relaxed) != self()) {
    mutex_.lock();
    owner_.store(self(), std::memory_order_relaxed);
  }
  ++depth_;
}

bool RecursiveForkMutex::try_lock() {
  if (owner_.load(std::memory_order_relaxed) != self()) {
    if (!mutex_.try_lock()) return false;
    owner_.store(self(), std::memory_order_relaxed);
  }
  ++depth_;
  return true;
}

void RecursiveForkMutex::unlock() {
  if (--depth_ != 0) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

QuickFork::QuickFork() noexcept { fork_thread.quick = true; }
QuickFork::~QuickFork() { fork_thread.quick = false; }

bool forked_at_rest() noexcept { return fork_thread.at_rest; }

// Declared by c10/process/parallel.cpp, which alone calls them.
namespace detail {
bool is_in_fork_section() noexcept;
void begin_as_guest() noexcept;
void end_as_guest() noexcept;

bool is_in_fork_section() noexcept { return fork_thread.depth > 0; }
void begin_as_guest() noexcept { ++fork_thread.depth; }
void end_as_guest() noexcept { --fork_thread.depth; }
}  // namespace detail

namespace {

// The thread that makes a function-local static is within a section, and so are
// the threads that wait for it: a child never finds one half made. Compiled
// code looks at the first byte of a guard.
class StaticGuard {
 public:
  explicit StaticGuard(char* bytes) noexcept
      : done_(bytes[0]), begun_(bytes[1]) {}

  // Whether the caller makes it.
  bool acquire() noexcept {
    enter();
    while (done_.load(std::memory_order_acquire) == 0) {
      if (begun_.exchange(1) == 0) {
        if (done_.load(std::memory_order_acquire) == 0) return true;
        begun_.store(0);
        break;
      }
      pause();
    }
    leave();
    return false;
  }
  void release(bool done) noexcept {
    if (done) done_.store(1, std::memory_order_release);
    begun_.store(0, std::memory_order_release);
    leave();
  }

 private:
  std::atomic_ref<char> done_, begun_;
};

}  // namespace

}  // namespace sy

// The guard functions of the Itanium ABI, in place of the standard library's,
// for the code that is linked with this file. Hidden: they make nobody else's
// statics.
extern "C" {
#define SY_HIDDEN __attribute__((visibility("hidden"), used))
SY_HIDDEN int __cxa_guard_acquire(long long* guard) {
  return sy::StaticGuard(reinterpret_cast<char*>(guard)).acquire() ? 1 : 0;
}
SY_HIDDEN void __cxa_guard_release(long long* guard) noexcept {
  sy::StaticGuard(reinterpret_cast<char*>(guard)).release(true);
}
SY_HIDDEN void __cxa_guard_abort(long long* guard) noexcept {
  sy::StaticGuard(reinterpret_cast<char*>(guard)).release(false);
}
#undef SY_HIDDEN
}
