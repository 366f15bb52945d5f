#include "c10/memory/pool.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "c10/memory/cpu_memory.h"
#include "c10/memory/pool_fast.h"
#include "c10/process/error.h"

// Note [Pool]
// Each thread has a free list per class of 64 bytes. An empty list takes a
// batch from the global depot, or carves one from a slab; a full list gives a
// batch to the depot, so that a thread that only frees feeds one that only
// allocates. A thread's lists go to the depot when it ends; thread-local
// destructors that run later use the depot block by block. Slabs are never
// given back: a slab holds blocks of many owners, and what small objects once
// needed together they will need again. trim() leaves them.

namespace sy {
namespace detail {

constinit thread_local PoolThread pool_thread{};

namespace {

constexpr size_t kSlabBytes = 64 * 1024;

constexpr uint32_t batch_of(size_t cls) {
  return static_cast<uint32_t>(
      std::clamp<size_t>(8192 / ((cls + 1) * 64), 8, 64));
}

// Lies in a block that heads a whole batch, beside PoolBlock::next.
struct __attribute__((may_alias)) BatchHead {
  PoolBlock* next;
  BatchHead* next_batch;
};

struct Depot {
  BatchHead* batches;
  PoolBlock* loose;  // fewer than a batch
  uint32_t loose_count;
};

// The head of a slab, in the place of a block.
struct Slab {
  Slab* next;
};
constexpr size_t kSlabHead = 64;

struct Global {
  std::mutex mutex;
  Slab* slabs;
  Depot depots[kPoolClasses];
  char* slab;
  size_t slab_left;
  PoolThread* threads;
  PoolCounters ended;  // of threads that are no longer listed
};
constinit Global global{};

void give_one(size_t cls, PoolBlock* b) {
  Depot& d = global.depots[cls];
  b->next = d.loose;
  d.loose = b;
  if (++d.loose_count < batch_of(cls)) return;
  auto* head = reinterpret_cast<BatchHead*>(d.loose);
  head->next_batch = d.batches;
  d.batches = head;
  d.loose = nullptr;
  d.loose_count = 0;
}

// A list of `count` blocks; nullptr if the system has no more memory.
PoolBlock* take(size_t cls, uint32_t* count) {
  Depot& d = global.depots[cls];
  if (d.batches != nullptr) {
    BatchHead* head = d.batches;
    d.batches = head->next_batch;
    *count = batch_of(cls);
    return reinterpret_cast<PoolBlock*>(head);
  }
  if (d.loose != nullptr) {
    *count = d.loose_count;
    d.loose_count = 0;
    return std::exchange(d.loose, nullptr);
  }
  const size_t size = (cls + 1) * 64;
  if (global.slab_left < size) {
    while (global.slab_left != 0) {
      const size_t rest = std::min(global.slab_left, kPoolMaxBytes);
      give_one(rest / 64 - 1, reinterpret_cast<PoolBlock*>(global.slab));
      global.slab += rest;
      global.slab_left -= rest;
    }
    auto* slab = static_cast<char*>(std::aligned_alloc(4096, kSlabBytes));
    if (slab == nullptr) return nullptr;
    auto* const head = reinterpret_cast<Slab*>(slab);
    head->next = global.slabs;
    global.slabs = head;
    global.slab = slab + kSlabHead;
    global.slab_left = kSlabBytes - kSlabHead;
  }
  *count = static_cast<uint32_t>(
      std::min<size_t>(batch_of(cls), global.slab_left / size));
  PoolBlock* list = nullptr;
  char* end = global.slab + *count * size;
  for (char* p = end; p != global.slab;) {
    p -= size;
    auto* b = reinterpret_cast<PoolBlock*>(p);
    b->next = list;
    list = b;
  }
  global.slab = end;
  global.slab_left -= *count * size;
  return list;
}

PoolCounters sum_counters() {
  PoolCounters sum = global.ended;
  for (const PoolThread* t = global.threads; t != nullptr; t = t->next) {
    sum.bytes += t->data_bytes.load(std::memory_order_relaxed);
    sum.calls += t->data_calls.load(std::memory_order_relaxed);
  }
  return sum;
}

void count(PoolThread& t, int64_t bytes, int64_t calls) {
  if (t.state == PoolThread::kActive) {
    add_relaxed(t.data_bytes, bytes);
    add_relaxed(t.data_calls, calls);
  } else {
    global.ended.bytes += bytes;
    global.ended.calls += calls;
  }
}

void retire_counters(PoolThread& t) {
  global.ended.bytes += t.data_bytes.exchange(0, std::memory_order_relaxed);
  global.ended.calls += t.data_calls.exchange(0, std::memory_order_relaxed);
}

struct ThreadEnd {
  bool used = false;
  ~ThreadEnd() {
    PoolThread& t = pool_thread;
    const std::lock_guard lock(global.mutex);
    for (size_t c = 0; c < kPoolClasses; ++c) {
      PoolBin& bin = t.bins[c];
      while (bin.head != nullptr) {
        PoolBlock* b = bin.head;
        bin.head = b->next;
        give_one(c, b);
      }
      bin.room = 0;
    }
    PoolThread** link = &global.threads;
    while (*link != &t) link = &(*link)->next;
    *link = t.next;
    retire_counters(t);
    t.state = PoolThread::kGone;
  }
};
thread_local ThreadEnd thread_end;

void enter(PoolThread& t) {
  thread_end.used = true;  // odr-use: runs its destructor at thread exit
  const std::lock_guard lock(global.mutex);
  for (size_t c = 0; c < kPoolClasses; ++c) t.bins[c].room = 2 * batch_of(c);
  t.next = global.threads;
  global.threads = &t;
  t.state = PoolThread::kActive;
}

[[noreturn]] void out_of_memory(size_t bytes) {
  fail(ErrorKind::OutOfMemory,
       "[pool] out of memory: asked for {} bytes, and the system has no more",
       bytes);
}

#if SY_ASAN
constexpr bool kPooled = false;
#else
constexpr bool kPooled = true;
#endif

// The blocks in use, where each is a malloc of its own. Leaked.
std::unordered_set<const void*>& single_blocks() {
  static auto& blocks = *new std::unordered_set<const void*>;
  return blocks;
}

}  // namespace

void* pool_get_slow(size_t bytes, size_t data) {
  PoolThread& t = pool_thread;
  if (kPooled && t.state == PoolThread::kUnknown) enter(t);
  if (data != 0) cpu_note_small(pool_counters().bytes, data);
  if constexpr (!kPooled) {
    void* block = nullptr;
    if (posix_memalign(&block, 64, bytes) != 0) out_of_memory(bytes);
    const std::lock_guard lock(global.mutex);
    single_blocks().insert(block);
    count(t, static_cast<int64_t>(data), data != 0);
    return block;
  }
  const size_t cls = (bytes - 1) / 64;
  const std::lock_guard lock(global.mutex);
  uint32_t n = 0;
  PoolBlock* list = take(cls, &n);
  if (list == nullptr) out_of_memory(bytes);
  count(t, static_cast<int64_t>(data), data != 0);
  if (t.state == PoolThread::kActive) {
    t.bins[cls].head = list->next;
    t.bins[cls].room -= n - 1;
  } else {
    for (PoolBlock* b = list->next; b != nullptr;) {
      give_one(cls, std::exchange(b, b->next));
    }
  }
  return list;
}

void pool_put_slow(void* block, size_t bytes, size_t data) noexcept {
  PoolThread& t = pool_thread;
  if constexpr (!kPooled) {
    {
      const std::lock_guard lock(global.mutex);
      single_blocks().erase(block);
      count(t, -static_cast<int64_t>(data), 0);
    }
    std::free(block);
    return;
  }
  if (t.state == PoolThread::kUnknown) {
    enter(t);
    return pool_put(block, bytes, data);
  }
  const size_t cls = (bytes - 1) / 64;
  auto* b = static_cast<PoolBlock*>(block);
  if (t.state == PoolThread::kGone) {
    const std::lock_guard lock(global.mutex);
    give_one(cls, b);
    count(t, -static_cast<int64_t>(data), 0);
    return;
  }
  // The list is full: its first batch goes to the depot.
  PoolBin& bin = t.bins[cls];
  auto* head = reinterpret_cast<BatchHead*>(bin.head);
  PoolBlock* last = bin.head;
  for (uint32_t i = 1; i < batch_of(cls); ++i) last = last->next;
  b->next = last->next;
  bin.head = b;
  bin.room += batch_of(cls) - 1;
  last->next = nullptr;
  add_relaxed(t.data_bytes, -static_cast<int64_t>(data));
  const std::lock_guard lock(global.mutex);
  head->next_batch = global.depots[cls].batches;
  global.depots[cls].batches = head;
}

void pool_uncount(size_t data) noexcept {
  const std::lock_guard lock(global.mutex);
  count(pool_thread, -static_cast<int64_t>(data), 0);
}

PoolCounters pool_counters() noexcept {
  const std::lock_guard lock(global.mutex);
  return sum_counters();
}

void lock_pool_for_fork() noexcept { global.mutex.lock(); }

void unlock_pool_after_fork(bool child) noexcept {
  if (child) {
    // The other threads are gone without having ended: their blocks are lost,
    // their counters stay.
    for (PoolThread* t = global.threads; t != nullptr; t = t->next) {
      if (t != &pool_thread) retire_counters(*t);
    }
    const bool listed = pool_thread.state == PoolThread::kActive;
    global.threads = listed ? &pool_thread : nullptr;
    if (listed) pool_thread.next = nullptr;
  }
  global.mutex.unlock();
}

bool is_slab(const Slab* s, const void* at) {
  const auto* const begin = reinterpret_cast<const char*>(s);
  return at >= begin && at < begin + kSlabBytes;
}

}  // namespace detail

bool is_pool_memory(const void* at) noexcept {
  using namespace detail;
  const std::lock_guard lock(global.mutex);
  if constexpr (!kPooled) {
    const auto* block = reinterpret_cast<const char*>(
        reinterpret_cast<uintptr_t>(at) & ~uintptr_t{63});
    for (size_t i = 0; i < kPoolClasses; ++i, block -= 64) {
      if (single_blocks().contains(block)) return true;
    }
    return false;
  }
  for (const Slab* s = global.slabs; s != nullptr; s = s->next) {
    if (is_slab(s, at)) return true;
  }
  return false;
}

void* pool_allocate(size_t bytes) {
  if (SY_LIKELY(bytes - 1 < kPoolMaxBytes)) return detail::pool_get(bytes);
  if (bytes == 0) return detail::pool_get(1);
  void* block = nullptr;
  if (posix_memalign(&block, 64, bytes) != 0) detail::out_of_memory(bytes);
  return block;
}

void pool_free(void* block, size_t bytes) noexcept {
  if (block == nullptr) return;
  if (SY_LIKELY(bytes - 1 < kPoolMaxBytes)) {
    detail::pool_put(block, bytes);
  } else if (bytes == 0) {
    detail::pool_put(block, 1);
  } else {
    std::free(block);
  }
}

}  // namespace sy
