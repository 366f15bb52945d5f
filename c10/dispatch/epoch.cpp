#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "c10/dispatch/registry.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/fork.h"

// Note [Calls in flight]
// A call marks its thread by two plain stores (CallScope). A thread that takes
// kernels away first publishes the new tables, then makes every core pass a
// barrier (membarrier), so that each thread either shows its mark or will read
// the new tables; then it waits for the marks seen to change. Readers pay no
// atomic read-modify-write.

namespace sy {

constinit thread_local ThreadState thread_state;

namespace {

struct Threads {
  ForkMutex mutex;
  std::vector<ThreadState*> list;
};

// Leaked: threads may end after static destruction.
Threads& threads() {
  static auto* t = new Threads;
  return *t;
}

// In the child of a fork the other threads are gone without having ended.
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] {
  if (!forked_at_rest()) return;
  std::erase_if(threads().list,
                [](const ThreadState* s) { return s != &thread_state; });
});

struct ThreadExit {
  ~ThreadExit() {
    Threads& t = threads();
    const std::lock_guard lock(t.mutex);
    std::erase(t.list, &thread_state);
    // A call made by a later thread-local destructor registers no more.
    gone = true;
  }
  bool used = false;
  static constinit thread_local bool gone;
};
constinit thread_local bool ThreadExit::gone = false;
thread_local ThreadExit thread_exit;

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

// Replaces membarrier where the system refuses it: taking a right away from a
// touched page makes the kernel interrupt every core that runs a thread of the
// process.
void barrier_by_page() {
  static ForkMutex mutex;
  static void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::lock_guard lock(mutex);
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  *static_cast<volatile char*>(page) = 1;
  mprotect(page, 4096, PROT_READ);
}

void barrier_on_all_cores() {
  static const bool registered =
      membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  if (!registered || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
    barrier_by_page();
  }
}

}  // namespace

namespace detail {

void enter_first_call() noexcept {
  thread_state.calls.store(0x10001, std::memory_order_relaxed);
  if (ThreadExit::gone) return;
  thread_exit.used = true;  // odr-use: runs its destructor at thread exit
  Threads& t = threads();
  const std::lock_guard lock(t.mutex);
  if (std::find(t.list.begin(), t.list.end(), &thread_state) == t.list.end()) {
    t.list.push_back(&thread_state);
  }
}

bool synchronize_calls(std::chrono::milliseconds timeout) {
  if ((thread_state.calls.load(std::memory_order_relaxed) & 0xffff) != 0) {
    return false;
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  barrier_on_all_cores();
  Threads& t = threads();
  struct Seen {
    ThreadState* thread;
    uint64_t calls;
  };
  std::vector<Seen> busy;
  {
    const std::lock_guard lock(t.mutex);
    for (ThreadState* s : t.list) {
      const uint64_t c = s->calls.load(std::memory_order_acquire);
      if ((c & 0xffff) != 0) busy.push_back({s, c >> 16});
    }
  }
  while (!busy.empty()) {
    {
      const std::lock_guard lock(t.mutex);
      std::erase_if(busy, [&](const Seen& seen) {
        if (std::find(t.list.begin(), t.list.end(), seen.thread) ==
            t.list.end()) {
          return true;  // the thread has ended
        }
        const uint64_t c = seen.thread->calls.load(std::memory_order_acquire);
        return (c & 0xffff) == 0 || (c >> 16) != seen.calls;
      });
    }
    if (busy.empty()) break;
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

}  // namespace detail
}  // namespace sy
