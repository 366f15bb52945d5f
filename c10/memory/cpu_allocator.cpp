#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

#include "c10/memory/allocator.h"
#include "c10/memory/cpu_memory.h"
#include "c10/memory/system_memory.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

// Note [CPU allocator]
// Up to kPoolMaxBytes: the pool. Above: blocks of eight sizes per power of two
// (at most 1/8 wasted), kept when freed and handed out again last in first out,
// under one lock. The kept bytes are bounded; beyond the bound the blocks
// unused for longest go back to the system, however large. The limit counts
// bytes as asked for; small results enter it, and the peak, each time a thread
// takes a new batch of blocks, so by steps of some kilobytes a thread.

namespace sy {
namespace detail {
namespace {

constexpr int kFirstLog = std::bit_width(kPoolMaxBytes) - 1;
constexpr int kLastLog = 47;
constexpr size_t kClasses = 8 * (kLastLog - kFirstLog);
// Blocks from here on are compared with what the machine has left.
constexpr size_t kAskSystem = size_t{64} << 20;

struct SizeClass {
  size_t index;
  size_t bytes;
};

// kPoolMaxBytes < bytes <= 2^kLastLog.
SizeClass size_class(size_t bytes) {
  const int log = std::bit_width(bytes - 1) - 1;
  const size_t eighth = (bytes - 1) >> (log - 3);  // 8 ... 15
  return {8 * static_cast<size_t>(log - kFirstLog) + eighth - 8,
          (eighth + 1) << (log - 3)};
}

// Lies at the start of a block that nobody uses.
struct __attribute__((may_alias)) FreeBlock {
  FreeBlock *next, *before;  // of the same class
  FreeBlock *older, *newer;  // of all
  SizeClass size;
};

struct State {
  std::mutex mutex;
  FreeBlock* bins[kClasses];
  FreeBlock *oldest, *newest;
  int64_t large;  // bytes handed out, as asked for
  int64_t small;  // as last told by the pool
  int64_t peak;
  int64_t cached;
  int64_t large_calls;
  int64_t system_calls;
  int64_t limit;  // 0: none
  int64_t cache_limit;
  bool configured;
};
constinit State state{};

constexpr size_t kMostReclaimers = 16;
constinit std::atomic<void (*)() noexcept> reclaimers[kMostReclaimers] = {};
void reclaim() noexcept {
  for (const auto& r : reclaimers) {
    auto* const f = r.load(std::memory_order_acquire);
    if (f == nullptr) return;
    f();
  }
}

void configure() {
  state.configured = true;
  const int64_t memory = physical_memory();
  state.limit = bytes_from_environment("SWITCHYARD_MEMORY_LIMIT", memory);
  state.cache_limit =
      bytes_from_environment("SWITCHYARD_CACHE_LIMIT", memory / 4);
}

void keep(FreeBlock* b, SizeClass size) {
  b->size = size;
  b->before = nullptr;
  b->next = state.bins[size.index];
  if (b->next != nullptr) b->next->before = b;
  state.bins[size.index] = b;
  b->newer = nullptr;
  b->older = state.newest;
  (b->older != nullptr ? b->older->newer : state.oldest) = b;
  state.newest = b;
  state.cached += static_cast<int64_t>(size.bytes);
}

void unlink(FreeBlock* b) {
  (b->before != nullptr ? b->before->next : state.bins[b->size.index]) =
      b->next;
  if (b->next != nullptr) b->next->before = b->before;
  (b->older != nullptr ? b->older->newer : state.oldest) = b->newer;
  (b->newer != nullptr ? b->newer->older : state.newest) = b->older;
  state.cached -= static_cast<int64_t>(b->size.bytes);
}

// Takes blocks out, the oldest first, until at most `most` bytes are kept.
// The list is for release() without the lock.
FreeBlock* evict(int64_t most) {
  FreeBlock* list = nullptr;
  while (state.cached > most && state.oldest != nullptr) {
    FreeBlock* b = state.oldest;
    unlink(b);
    b->next = list;
    list = b;
  }
  return list;
}

void release(FreeBlock* list) {
  while (list != nullptr) {
    FreeBlock* next = list->next;
    system_free(list, list->size.bytes);
    list = next;
  }
}

// a > b - c without overflow, for b, c >= 0; a limit of 0 is none.
bool beyond(int64_t limit, int64_t used, size_t more) {
  return limit != 0 && (more > static_cast<uint64_t>(limit) ||
                        used > limit - static_cast<int64_t>(more));
}

struct Numbers {
  int64_t used, cached, limit;
};

[[noreturn]] SY_COLD void out_of_memory(size_t bytes, Numbers n,
                                        const std::string& why) {
  fail(ErrorKind::OutOfMemory,
       "[cpu] out of memory: asked for {} bytes, {} in use, {} cached, limit "
       "{} ({})",
       bytes, n.used, n.cached,
       n.limit == 0 ? std::string("none") : std::to_string(n.limit), why);
}

constexpr const char* kLimitReason =
    "set_memory_limit or SWITCHYARD_MEMORY_LIMIT change the limit";

// nullptr, and why, if there is none.
void* from_system(SizeClass size, size_t bytes, std::string* why) {
  if (size.bytes >= kAskSystem) {
    const int64_t left = available_memory();
    if (left >= 0 && bytes > static_cast<uint64_t>(left)) {
      *why = str("the machine has {} left", left);
      return nullptr;
    }
  }
  void* data = system_allocate(size.bytes);
  if (data == nullptr) *why = "the system has no more";
  return data;
}

#if SY_ASAN
constexpr bool kCaches = false;
#else
constexpr bool kCaches = true;
#endif

}  // namespace

void* cpu_allocate_large(size_t bytes) {
  constexpr size_t kMost = size_t{1} << kLastLog;
  SizeClass size = bytes <= kMost ? size_class(bytes) : SizeClass{0, bytes};
  if constexpr (!kCaches) size.bytes = bytes;
  FreeBlock* evicted = nullptr;
  Numbers n;
  {
    std::unique_lock lock(state.mutex);
    if (SY_UNLIKELY(!state.configured)) configure();
    n = {state.large + state.small, state.cached, state.limit};
    if (SY_UNLIKELY(bytes > kMost || beyond(n.limit, n.used, bytes))) {
      // Small results may have been freed since the pool told of them.
      lock.unlock();
      reclaim();
      const int64_t small = pool_counters().bytes;
      lock.lock();
      state.small = small;
      n = {state.large + state.small, state.cached, state.limit};
      if (bytes > kMost || beyond(n.limit, n.used, bytes)) {
        lock.unlock();
        out_of_memory(bytes, n, kLimitReason);
      }
    }
    state.large += static_cast<int64_t>(bytes);
    state.peak = std::max(state.peak, state.large + state.small);
    ++state.large_calls;
    if (FreeBlock* b = state.bins[size.index]) {
      unlink(b);
      return b;
    }
    ++state.system_calls;
    // Kept blocks must not push the process beyond the limit either.
    if (beyond(n.limit, n.used + n.cached, size.bytes)) {
      evicted = evict(std::max<int64_t>(
          0, n.limit - n.used - static_cast<int64_t>(size.bytes)));
    }
  }
  release(evicted);
  std::string why;
  if (void* data = from_system(size, bytes, &why)) return data;
  reclaim();
  std::unique_lock lock(state.mutex);
  evicted = evict(0);
  lock.unlock();
  release(evicted);
  if (void* data = from_system(size, bytes, &why)) return data;
  lock.lock();
  state.large -= static_cast<int64_t>(bytes);
  lock.unlock();
  out_of_memory(bytes, n, why);
}

void cpu_deallocate_large(void* data, size_t bytes) noexcept {
  SizeClass size = size_class(bytes);
  FreeBlock* evicted = nullptr;
  {
    const std::lock_guard lock(state.mutex);
    state.large -= static_cast<int64_t>(bytes);
    if (kCaches && static_cast<int64_t>(size.bytes) <= state.cache_limit) {
      keep(static_cast<FreeBlock*>(data), size);
      data = nullptr;
      if (SY_UNLIKELY(state.cached > state.cache_limit)) {
        evicted = evict(state.cache_limit);
      }
    }
  }
  if (data != nullptr) system_free(data, kCaches ? size.bytes : bytes);
  if (evicted != nullptr) release(evicted);
}

void cpu_note_small(int64_t bytes, size_t more) {
  std::unique_lock lock(state.mutex);
  if (SY_UNLIKELY(!state.configured)) configure();
  state.small = bytes;
  const Numbers n{state.large + bytes, state.cached, state.limit};
  if (SY_UNLIKELY(beyond(n.limit, n.used, more))) {
    lock.unlock();
    out_of_memory(more, n, kLimitReason);
  }
  state.small += static_cast<int64_t>(more);
  state.peak = std::max(state.peak, state.large + state.small);
}

int64_t parse_bytes(const char* text) noexcept {
  const char* end = text + std::strlen(text);
  int64_t n = 0;
  const auto [rest, error] = std::from_chars(text, end, n);
  if (error != std::errc() || n < 0) return -1;
  if (rest == end) return n;
  constexpr std::string_view kUnits = "kKmMgGtT";
  const size_t unit = kUnits.find(*rest);
  if (unit == std::string_view::npos || rest + 1 != end) return -1;
  const size_t shift = 10 * (unit / 2 + 1);
  if (n > (std::numeric_limits<int64_t>::max() >> shift)) return -1;
  return n << shift;
}

void lock_memory_for_fork() noexcept {
  state.mutex.lock();
  lock_pool_for_fork();
}

void unlock_memory_after_fork(bool child) noexcept {
  unlock_pool_after_fork(child);
  state.mutex.unlock();
}

}  // namespace detail

namespace {

using detail::state;

class CpuAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes) override { return detail::cpu_allocate(bytes); }
  void deallocate(void* data, size_t bytes) noexcept override {
    if (data != nullptr) detail::cpu_deallocate(data, bytes);
  }
  MemoryStats stats() const noexcept override {
    const detail::PoolCounters small = detail::pool_counters();
    const std::lock_guard lock(state.mutex);
    if (!state.configured) detail::configure();
    update(small.bytes);
    return {.allocated = state.large + state.small,
            .peak = state.peak,
            .cached = state.cached,
            .limit = state.limit,
            .allocations = state.large_calls + small.calls,
            .system_calls = state.system_calls};
  }
  void reset_peak() noexcept override {
    const detail::PoolCounters small = detail::pool_counters();
    const std::lock_guard lock(state.mutex);
    state.peak = 0;
    update(small.bytes);
  }
  void trim() noexcept override {
    detail::reclaim();
    std::unique_lock lock(state.mutex);
    detail::FreeBlock* list = detail::evict(0);
    lock.unlock();
    detail::release(list);
  }
  void set_limit(int64_t bytes) noexcept override {
    std::unique_lock lock(state.mutex);
    if (!state.configured) detail::configure();
    state.limit = std::max<int64_t>(bytes, 0);
    detail::FreeBlock* list = nullptr;
    if (bytes > 0) {
      list = detail::evict(
          std::max<int64_t>(0, bytes - state.large - state.small));
    }
    lock.unlock();
    detail::release(list);
  }

 private:
  static void update(int64_t small) noexcept {
    state.small = small;
    state.peak = std::max(state.peak, state.large + small);
  }
};

}  // namespace

void add_reclaimer(void (*free_some)() noexcept) {
  for (auto& r : detail::reclaimers) {
    void (*nobody)() noexcept = nullptr;
    if (r.compare_exchange_strong(nobody, free_some)) return;
  }
  fail(ErrorKind::Error, "[add_reclaimer] there are {} already",
       detail::kMostReclaimers);
}

int64_t bytes_from_environment(const char* name, int64_t otherwise) {
  const char* text = environment(name);
  if (text == nullptr || *text == '\0') return otherwise;
  const int64_t bytes = detail::parse_bytes(text);
  if (bytes >= 0) return bytes;
  std::fprintf(stderr,
               "switchyard: %s: expected bytes such as 4294967296, 4G or "
               "512M, got '%s'; ignored\n",
               name, text);
  return otherwise;
}

// Leaked: tensors may be freed after static destruction.
Allocator& cpu_allocator() noexcept {
  static auto* a = new CpuAllocator;
  return *a;
}

}  // namespace sy
