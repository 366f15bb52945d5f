#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "c10/macros.h"
#include "c10/memory/pool.h"

// The pool's fast path, for c10's own sources: a few instructions, no call and
// no atomic read-modify-write. See Note [Pool] in pool.cpp.

namespace sy::detail {

// The memory belonged to another object, and will again. may_alias keeps the
// compiler from reordering accesses because their types differ.
struct __attribute__((may_alias)) PoolBlock {
  PoolBlock* next;
};

struct PoolBin {
  PoolBlock* head;
  // How many more blocks the list takes. 0 before the thread is registered and
  // after it has handed its lists back, so that pool_put() then takes the slow
  // path.
  uint32_t room;
};

inline constexpr size_t kPoolClasses = kPoolMaxBytes / 64;

// One per thread; zero at thread start. The counters are for the memory that
// the CPU allocator took from the pool. Only this thread writes them; any
// thread may read them to form the sum.
struct PoolThread {
  PoolBin bins[kPoolClasses];
  std::atomic<int64_t> data_bytes;
  std::atomic<int64_t> data_calls;
  PoolThread* next;
  enum State : uint8_t { kUnknown, kActive, kGone } state;
};

extern SY_TLS_FAST constinit thread_local PoolThread pool_thread;

// 0 < bytes <= kPoolMaxBytes. `data` of these bytes count as handed out by the
// CPU allocator.
SY_NOINLINE void* pool_get_slow(size_t bytes, size_t data);
SY_NOINLINE void pool_put_slow(void* block, size_t bytes, size_t data) noexcept;

struct PoolCounters {
  int64_t bytes = 0;
  int64_t calls = 0;
};
// Says that `data` bytes no longer count as handed out.
void pool_uncount(size_t data) noexcept;
// The sum over all threads, ended ones included.
PoolCounters pool_counters() noexcept;

// Call them before and after a fork.
void lock_pool_for_fork() noexcept;
void unlock_pool_after_fork(bool child) noexcept;

inline void add_relaxed(std::atomic<int64_t>& counter, int64_t n) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + n,
                std::memory_order_relaxed);
}

SY_ALWAYS_INLINE void* pool_get(size_t bytes, size_t data = 0) {
  PoolThread& t = pool_thread;
  PoolBin& bin = t.bins[(bytes - 1) / 64];
  PoolBlock* block = bin.head;
  if (SY_UNLIKELY(block == nullptr)) return pool_get_slow(bytes, data);
  bin.head = block->next;
  ++bin.room;
  if (data != 0) {
    add_relaxed(t.data_bytes, static_cast<int64_t>(data));
    add_relaxed(t.data_calls, 1);
  }
  return block;
}

SY_ALWAYS_INLINE void pool_put(void* block, size_t bytes,
                               size_t data = 0) noexcept {
  PoolThread& t = pool_thread;
  PoolBin& bin = t.bins[(bytes - 1) / 64];
  if (SY_UNLIKELY(bin.room == 0)) return pool_put_slow(block, bytes, data);
  --bin.room;
  auto* b = static_cast<PoolBlock*>(block);
  b->next = bin.head;
  bin.head = b;
  if (data != 0) add_relaxed(t.data_bytes, -static_cast<int64_t>(data));
}

}  // namespace sy::detail
