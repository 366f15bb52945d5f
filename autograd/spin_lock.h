#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace sy::autograd {

// A lock of one byte, held for a few instructions. Waiters yield the processor.
class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.exchange(1, std::memory_order_acquire) != 0) sched_yield();
  }
  void unlock() noexcept { taken_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint8_t> taken_{0};
};

}  // namespace sy::autograd
