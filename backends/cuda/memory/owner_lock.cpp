#include "backends/cuda/memory/owner_lock.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

// Note [Owner lock]
// The owner says that it is busy and then looks whether another thread wants
// the lock; the other thread says that it wants it and then looks whether the
// owner is busy. One of the two sees the other, if neither load is done before
// the store that precedes it. The other thread's fence() orders the owner's as
// well, wherever the owner is, so the owner needs no fence of its own. The
// owner's store is an exchange where the system has no such call.

namespace sy::cuda {
namespace {

long membarrier(int command) noexcept {
  return syscall(__NR_membarrier, command, 0U, 0);
}

bool register_process() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

}  // namespace

const bool detail::has_remote_fences = register_process();

void OwnerLock::fence() noexcept {
  if (!detail::has_remote_fences) return;
  // A forked process has to register again.
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) register_process();
}

void OwnerLock::await() noexcept {
  while (busy_.load(std::memory_order_seq_cst)) std::this_thread::yield();
}

void OwnerLock::wait() noexcept {
  do {
    busy_.store(false, std::memory_order_release);
    while (wanted_.load(std::memory_order_acquire)) std::this_thread::yield();
    busy_.exchange(true, std::memory_order_seq_cst);
  } while (wanted_.load(std::memory_order_seq_cst));
}

}  // namespace sy::cuda
