#include "backends/cuda/memory/device_memory.h"

#include <algorithm>
#include <utility>

#include "backends/cuda/memory/streams.h"
#include "backends/cuda/runtime/context.h"
#include "c10/device/device_guard.h"
#include "c10/process/error.h"

// Note [Device memory]
// Kernels run after the call that started them, so a freed block may still be
// used. Each block belongs to the stream that it was handed out for, its lane.
// A free block goes to later work of that stream at once: work of one stream
// runs in order. It goes to other streams when the stream has done all that was
// in it when the block was freed. So launches need not stamp blocks of their
// own stream: note_use() finds the block's lane and returns. Uses in other
// streams are noted in a table; a block that has some is free for its own
// stream, too, only when they are done.
//
// Blocks up to kSmallMax have classes of sizes, in spans of one class and one
// lane. A thread keeps free small blocks in stacks of its own, which it uses
// without a lock of all; a stack that is empty or full exchanges a batch with
// the spans under the mutex. A span without a block in use goes back to the
// heap of spans. Larger blocks come from a heap, which cuts and merges them.
// The two heaps lie in two ranges of addresses, which are reserved once and are
// many times larger than the memory: granules are mapped where a heap needs
// them and unmapped when memory is short, so free granules anywhere make room
// for a large block. Devices without virtual memory have heaps of the driver's
// allocations.

namespace sy::cuda {

constinit thread_local ThreadPart** thread_parts = nullptr;

namespace {

// The bytes that a thread may hand out before the device hears of it, and the
// distance from the limit within which it does not wait for that much.
constexpr int64_t kUnreported = int64_t{256} << 10;
constexpr int64_t kNearLimit = int64_t{64} << 20;
// Sizes beyond this could overflow. No device has so much.
constexpr size_t kMost = size_t{1} << 48;
// The addresses of each heap, in sizes of the device's memory.
constexpr size_t kLargeRange = 16;
constexpr size_t kSpanRange = 4;
// How much a heap gets at once from a device without virtual memory.
constexpr size_t kLeastAllocation = size_t{16} << 20;

// Destructors of the thread that run after ThreadEnd's free blocks, too.
constinit thread_local bool thread_gone = false;

struct ThreadEnd {
  ThreadPart** parts = nullptr;
  DeviceMemory* owners[kMostDevices] = {};
  ~ThreadEnd() {
    thread_gone = true;
    thread_parts = nullptr;
    if (parts == nullptr) return;
    for (int i = 0; i < kMostDevices; ++i) {
      if (parts[i] != nullptr) owners[i]->leave(parts[i]);
    }
    delete[] parts;
  }
};
thread_local ThreadEnd thread_end;

bool beyond(int64_t limit, int64_t used, size_t more) {
  return limit != 0 && used > limit - static_cast<int64_t>(more);
}

}  // namespace

DeviceMemory::DeviceMemory(int device) : device_(device), source_(device) {
  limit_ = bytes_from_environment("SWITCHYARD_CUDA_MEMORY_LIMIT", 0);
  size_t total = 0;
  driver::check(driver::api().device_memory(&total, device),
                "asking for the size of the memory");
  total = round_up(total, kGranule);
  uint64_t at = 0;
  // Less if the process may not reserve as much.
  for (size_t part = 1; part <= 4; part *= 2) {
    const size_t large = kLargeRange / part * total;
    const size_t spans = kSpanRange / part * total;
    if (!source_.reserve(large + spans, &at)) continue;
    large_ = std::make_unique<Heap>(0, source_, at, large, 0);
    spans_ = std::make_unique<Heap>(1, source_, at + large, spans, 0);
    return;
  }
  large_ = std::make_unique<Heap>(0, source_, 0, 0, kLeastAllocation);
  spans_ = std::make_unique<Heap>(1, source_, 0, 0, kGranule);
}

SY_ALWAYS_INLINE void* DeviceMemory::get(size_t bytes, uint64_t stream) {
  if (SY_UNLIKELY(bytes - 1 >= kSmallMax)) {
    return bytes == 0 ? nullptr : get_large(bytes, stream);
  }
  ThreadPart** const parts = thread_parts;
  if (SY_LIKELY(parts != nullptr)) {
    ThreadPart* const t = parts[device_];
    if (SY_LIKELY(t != nullptr)) {
      void* data =
          t->take(class_of(bytes), static_cast<int64_t>(bytes), stream);
      if (SY_LIKELY(data != nullptr)) return data;
    }
  }
  return get_small(bytes, stream);
}

void* DeviceMemory::allocate(size_t bytes) {
  return get(bytes, current_stream_number(device_));
}

void* DeviceMemory::allocate_on(size_t bytes, uint64_t stream) {
  return get(bytes, stream);
}

void DeviceMemory::deallocate(void* data, size_t bytes) noexcept {
  if (data == nullptr) return;
  if (SY_UNLIKELY(bytes > kSmallMax)) return put_large(data, bytes);
  Block* const span = addresses.find(data);
  ThreadPart** const parts = thread_parts;
  if (SY_LIKELY(parts != nullptr &&
                span->foreign.load(std::memory_order_relaxed) == 0)) {
    ThreadPart* const t = parts[device_];
    if (SY_LIKELY(t != nullptr && t->keep(span->lane, class_of(bytes), data,
                                          static_cast<int64_t>(bytes)))) {
      return;
    }
  }
  put_small(data, bytes, span);
}

void DeviceMemory::note_use(const void* data, int device, uint64_t stream,
                            uint64_t ticket) noexcept {
  Block* const b = addresses.find(data);
  if (b == nullptr) return;
  if (SY_LIKELY(device == device_ &&
                b->lane->stream.load(std::memory_order_relaxed) == stream)) {
    return;
  }
  if (foreign_.add(data, device, stream, ticket)) {
    b->foreign.fetch_add(1, std::memory_order_relaxed);
  }
}

ThreadPart* DeviceMemory::part_of_thread() {
  if (thread_gone) return nullptr;
  ThreadEnd& end = thread_end;
  if (end.parts == nullptr) end.parts = new ThreadPart*[kMostDevices]();
  thread_parts = end.parts;
  ThreadPart*& part = end.parts[device_];
  if (part == nullptr) {
    auto made = std::make_unique<ThreadPart>();
    end.owners[device_] = this;
    const std::lock_guard lock(mutex_);
    made->next = threads_;
    threads_ = made.get();
    part = made.release();
  }
  return part;
}

Bins* DeviceMemory::bins_of(ThreadPart* t, Lane& lane) {
  if (Bins* found = t->find(&lane)) return found;
  auto* made = new Bins;
  made->lane = &lane;
  t->lock.enter();
  made->next = t->bins;
  t->bins = made;
  t->lock.leave();
  return made;
}

Lane& DeviceMemory::lane_of(Lock& lock, uint64_t stream) {
  const auto find = [&]() -> Lane* {
    for (const auto& lane : lanes_) {
      if (!lane->unused &&
          lane->stream.load(std::memory_order_relaxed) == stream) {
        return lane.get();
      }
    }
    return nullptr;
  };
  if (Lane* found = find()) return *found;
  // Lanes may be of streams that are gone. None changes hands during a poll.
  lock.unlock();
  poll();
  const std::lock_guard no_poll(poll_mutex_);
  lock.lock();
  if (Lane* found = find()) return *found;
  for (const auto& lane : lanes_) {
    if (!lane->unused) continue;
    lane->stream.store(stream, std::memory_order_relaxed);
    lane->unused = false;
    return *lane;
  }
  lanes_.push_back(std::make_unique<Lane>());
  lanes_.back()->stream.store(stream, std::memory_order_relaxed);
  return *lanes_.back();
}

int64_t DeviceMemory::sum_small() const {
  int64_t sum = ended_bytes_;
  for (const ThreadPart* t = threads_; t != nullptr; t = t->next) {
    sum += t->bytes.load(std::memory_order_relaxed);
  }
  small_bytes_ = sum;
  peak_ = std::max(peak_, large_bytes_ + sum);
  return sum;
}

void DeviceMemory::admit(Lock& lock, ThreadPart* t, size_t bytes) {
  const auto more = static_cast<int64_t>(bytes);
  // Small blocks may have been freed since they were summed.
  if (t != nullptr || beyond(limit_, large_bytes_ + small_bytes_, bytes)) {
    sum_small();
  }
  const int64_t used = large_bytes_ + small_bytes_;
  if (SY_UNLIKELY(beyond(limit_, used, bytes))) {
    out_of_memory(lock, bytes,
                  "set_memory_limit or SWITCHYARD_CUDA_MEMORY_LIMIT change the "
                  "limit");
  }
  peak_ = std::max(peak_, used + more);
  if (t == nullptr) return;
  const bool near = limit_ != 0 && used + more > limit_ - kNearLimit;
  t->report_at = t->bytes.load(std::memory_order_relaxed) +
                 (near ? 0 : more + kUnreported);
}

void* DeviceMemory::get_small(size_t bytes, uint64_t stream) {
  const unsigned c = class_of(bytes);
  ThreadPart* const t = part_of_thread();
  Lock lock(mutex_);
  Lane& lane = lane_of(lock, stream);
  admit(lock, t, bytes);
  void* batch[kMostKept];
  if (t == nullptr) {
    take_batch(lock, lane, c, batch, 1);
    count_without_thread(static_cast<int64_t>(bytes), 1);
    return batch[0];
  }
  lock.unlock();
  Bins* const bins = bins_of(t, lane);
  void* data = nullptr;
  t->lock.enter();
  t->current = bins;
  if (bins->count[c] != 0) data = bins->pop(c);
  t->lock.leave();
  if (data == nullptr) {
    lock.lock();
    unsigned n = take_batch(lock, lane, c, batch, batch_of(c));
    lock.unlock();
    data = batch[--n];
    t->lock.enter();
    while (n != 0) bins->push(c, batch[--n]);
    t->lock.leave();
  }
  t->count(static_cast<int64_t>(bytes), 1);
  return data;
}

unsigned DeviceMemory::take_batch(Lock& lock, Lane& lane, unsigned c,
                                  void** out, unsigned n) {
  if (lane.spans[c] == nullptr) {
    auto span = std::make_unique<Span>(c);
    Block* b = obtain(lock, *spans_, lane, span_bytes(c));
    try {
      addresses.set(b->address, b->bytes, b);
    } catch (...) {
      spans_->give_idle(b);
      throw;
    }
    b->span = std::move(span);
    list_span(b);
  }
  return cut_spans(lane, c, out, n);
}

unsigned DeviceMemory::cut_spans(Lane& lane, unsigned c, void** out,
                                 unsigned n) {
  unsigned done = 0;
  while (done < n && lane.spans[c] != nullptr) {
    Block* b = lane.spans[c];
    Span& s = *b->span;
    while (done < n && s.available() != 0) {
      size_t i = s.fresh;
      if (s.free_count != 0) {
        i = s.free_head;
        s.free_head = s.next[i];
        --s.free_count;
      } else {
        ++s.fresh;
      }
      out[done++] = reinterpret_cast<void*>(b->address + i * class_bytes(c));
    }
    if (s.available() == 0) unlist_span(b);
  }
  return done;
}

void DeviceMemory::list_span(Block* b) noexcept {
  Span& s = *b->span;
  Block*& head = b->lane->spans[s.cls];
  s.before = nullptr;
  s.after = head;
  if (head != nullptr) head->span->before = b;
  head = b;
  s.listed = true;
}

void DeviceMemory::unlist_span(Block* b) noexcept {
  Span& s = *b->span;
  (s.before != nullptr ? s.before->span->after : b->lane->spans[s.cls]) =
      s.after;
  if (s.after != nullptr) s.after->span->before = s.before;
  s.listed = false;
}

void DeviceMemory::retire_span(Block* b) noexcept {
  unlist_span(b);
  b->span.reset();
  spans_->give(b, kTicketUnknown);
}

void DeviceMemory::give_small(void* data, Block* b) noexcept {
  Span& s = *b->span;
  const size_t i =
      (reinterpret_cast<uint64_t>(data) - b->address) / class_bytes(s.cls);
  s.next[i] = s.free_head;
  s.free_head = static_cast<uint16_t>(i);
  ++s.free_count;
  if (!s.listed) list_span(b);
  // One empty span stays for the next block of the class.
  const bool alone = s.before == nullptr && s.after == nullptr;
  if (s.available() == s.total && !alone) retire_span(b);
}

void DeviceMemory::count_without_thread(int64_t bytes, int64_t calls) noexcept {
  ended_bytes_ += bytes;
  ended_calls_ += calls;
}

void DeviceMemory::put_small(void* data, size_t bytes, Block* span) noexcept {
  const unsigned c = class_of(bytes);
  ThreadPart* const t = part_of_thread();
  const auto uncount = [&] {
    if (t != nullptr) {
      t->count(-static_cast<int64_t>(bytes), 0);
    } else {
      count_without_thread(-static_cast<int64_t>(bytes), 0);
    }
  };
  if (span->foreign.load(std::memory_order_relaxed) != 0) {
    BlockUses uses;
    if (foreign_.take(data, &uses)) {
      const bool done = settle(uses);
      const std::lock_guard lock(mutex_);
      span->foreign.fetch_sub(1, std::memory_order_relaxed);
      if (!done) {
        parked_.push_back({data, span, std::move(uses), false});
        return uncount();
      }
    }
  }
  if (t == nullptr) {
    const std::lock_guard lock(mutex_);
    give_small(data, span);
    return uncount();
  }
  uncount();
  // The stack of its lane; a full one gives the blocks that it kept for longest
  // to all.
  Bins* const bins = bins_of(t, *span->lane);
  void* batch[kMostKept];
  unsigned n = 0;
  t->lock.enter();
  if (t->current == nullptr) t->current = bins;
  if (bins->full(c)) {
    n = batch_of(c);
    void** const first = &bins->blocks[Bins::kBegin[c]];
    std::copy_n(first, n, batch);
    std::copy(first + n, first + bins->count[c], first);
    bins->count[c] = static_cast<uint8_t>(bins->count[c] - n);
  }
  bins->push(c, data);
  t->lock.leave();
  if (n == 0) return;
  const std::lock_guard lock(mutex_);
  for (unsigned i = 0; i < n; ++i) {
    give_small(batch[i], addresses.find(batch[i]));
  }
}

void* DeviceMemory::get_large(size_t bytes, uint64_t stream) {
  const std::string_view op = running_operator_name();
  Lock lock(mutex_);
  if (bytes > kMost) {
    out_of_memory(lock, bytes, "no device has so much");
  }
  Lane& lane = lane_of(lock, stream);
  admit(lock, nullptr, bytes);
  Block* const b = obtain(lock, *large_, lane, round_up(bytes, kUnit));
  try {
    addresses.set(b->address, 1, b);
  } catch (...) {
    large_->give_idle(b);
    throw;
  }
  b->asked = bytes;
  b->op = op;
  large_bytes_ += static_cast<int64_t>(bytes);
  ++large_calls_;
  peak_ = std::max(peak_, large_bytes_ + small_bytes_);
  return reinterpret_cast<void*>(b->address);
}

void DeviceMemory::put_large(void* data, size_t bytes) noexcept {
  Block* const b = addresses.find(data);
  const uint64_t stream = b->lane->stream.load(std::memory_order_relaxed);
  const uint64_t ticket = last_ticket(device_, stream);
  BlockUses uses;
  bool mixed = b->foreign.load(std::memory_order_relaxed) != 0 &&
               foreign_.take(data, &uses);
  if (mixed && settle(uses)) mixed = false;
  const std::lock_guard lock(mutex_);
  large_bytes_ -= static_cast<int64_t>(bytes);
  b->foreign.store(0, std::memory_order_relaxed);
  b->op = {};
  if (!mixed) return large_->give(b, ticket);
  uses.add(device_, stream, ticket);
  b->state = Block::kMixed;
  mixed_.push_back({b, std::move(uses), false});
}

void DeviceMemory::leave(ThreadPart* t) noexcept {
  const std::lock_guard lock(mutex_);
  for (Bins* bins = t->bins; bins != nullptr;) {
    for (unsigned c = 0; c < kClasses; ++c) {
      while (bins->count[c] != 0) {
        void* data = bins->pop(c);
        give_small(data, addresses.find(data));
      }
    }
    delete std::exchange(bins, bins->next);
  }
  ThreadPart** link = &threads_;
  while (*link != t) link = &(*link)->next;
  *link = t->next;
  count_without_thread(t->bytes.load(std::memory_order_relaxed),
                       t->calls.load(std::memory_order_relaxed));
  delete t;
}

void DeviceMemory::let_reach(int device) {
  const std::lock_guard lock(mutex_);
  source_.let_reach(device);
}

void DeviceMemory::before_fork() noexcept {
  poll_mutex_.lock();
  mutex_.lock();
  foreign_.lock();
}

void DeviceMemory::after_fork(bool child) noexcept {
  if (child) {
    // The other threads are gone without having ended, and so are the blocks
    // that they kept.
    const ThreadPart* const mine =
        thread_parts == nullptr ? nullptr : thread_parts[device_];
    for (ThreadPart** link = &threads_; *link != nullptr;) {
      ThreadPart* const t = *link;
      if (t == mine) {
        link = &t->next;
        continue;
      }
      count_without_thread(t->bytes.load(std::memory_order_relaxed),
                           t->calls.load(std::memory_order_relaxed));
      *link = t->next;
    }
  }
  foreign_.unlock();
  mutex_.unlock();
  poll_mutex_.unlock();
}

MemoryStats DeviceMemory::stats() const noexcept {
  const std::lock_guard lock(mutex_);
  const int64_t used = large_bytes_ + sum_small();
  int64_t calls = large_calls_ + ended_calls_;
  for (const ThreadPart* t = threads_; t != nullptr; t = t->next) {
    calls += t->calls.load(std::memory_order_relaxed);
  }
  return {.allocated = used,
          .peak = peak_,
          .cached = static_cast<int64_t>(source_.held()) - used,
          .limit = limit_,
          .allocations = calls,
          .system_calls = system_calls_};
}

void DeviceMemory::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  peak_ = 0;
  sum_small();
}

}  // namespace sy::cuda
