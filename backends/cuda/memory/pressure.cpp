#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "backends/cuda/memory/device_memory.h"
#include "backends/cuda/memory/streams.h"
#include "backends/cuda/runtime/context.h"
#include "c10/device/device_guard.h"
#include "c10/process/error.h"

// The steps of the allocator when a heap has no block at hand, cheapest first:
// see which work is done; map more memory; take the free blocks of threads and
// unmap what is idle; wait for streams, one after the other; fail.

namespace sy::cuda {
namespace {

constexpr size_t kAll = ~size_t{0};
constexpr size_t kTableLines = 12;
constexpr size_t kTableSizes = 4;

std::string readable(int64_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  int64_t tenths = bytes;
  if (bytes >= 1024) {
    tenths = bytes * 10;
    for (; tenths >= 10240 && unit + 1 < kUnits.size(); ++unit) tenths /= 1024;
    return str("{}.{} {}", tenths / 10, tenths % 10, kUnits[unit]);
  }
  return str("{} {}", tenths, kUnits[unit]);
}

std::string blocks(int64_t n) {
  return str("{} {}", n, n == 1 ? "block" : "blocks");
}

struct Holder {
  int64_t bytes = 0;
  int64_t blocks = 0;
};

template <class Key>
std::vector<std::pair<Key, Holder>> largest_first(
    const std::map<Key, Holder>& holders) {
  std::vector<std::pair<Key, Holder>> out(holders.begin(), holders.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.second.bytes > b.second.bytes;
  });
  return out;
}

Block* find(Heap& heap, Lane& lane, size_t bytes) {
  Block* const b = heap.take(lane, bytes);
  return b != nullptr ? b : heap.join(lane, bytes);
}

}  // namespace

Block* DeviceMemory::find_or_grow(Heap& heap, Lane& lane, size_t bytes,
                                  bool strict) {
  if (Block* b = find(heap, lane, bytes)) return b;
  if (limit_ != 0) {
    const auto excess = [&] {
      return static_cast<int64_t>(source_.held() + heap.growth(lane, bytes)) -
             limit_;
    };
    // Kept memory must not take the process beyond the limit either.
    if (excess() > 0) release_idle(static_cast<size_t>(excess()));
    if (strict && excess() > 0) return nullptr;
  }
  Block* const b = heap.grow(lane, bytes);
  if (b != nullptr) ++system_calls_;
  return b;
}

size_t DeviceMemory::release_idle(size_t most) {
  use_device(device_);
  const size_t large = large_->release_idle(most);
  return large >= most ? large : large + spans_->release_idle(most - large);
}

Block* DeviceMemory::obtain(Lock& lock, Heap& heap, Lane& lane, size_t bytes) {
  if (Block* b = heap.take(lane, bytes)) return b;
  lock.unlock();
  poll();
  lock.lock();
  if (Block* b = find_or_grow(heap, lane, bytes, true)) return b;

  const size_t enough = bytes + 2 * source_.granule();
  lock.unlock();
  reclaim();
  lock.lock();
  if (Block* b = find(heap, lane, bytes)) return b;
  release_idle(enough);
  if (Block* b = find_or_grow(heap, lane, bytes, true)) return b;

  for (const uint64_t stream : busy_streams()) {
    lock.unlock();
    wait_for(device_, stream);
    reclaim();
    lock.lock();
    if (Block* b = find(heap, lane, bytes)) return b;
    release_idle(enough);
    if (Block* b = find_or_grow(heap, lane, bytes, true)) return b;
  }
  release_idle(kAll);
  if (Block* b = find_or_grow(heap, lane, bytes, false)) return b;
  out_of_memory(lock, bytes, "the device has no more");
}

void DeviceMemory::poll() {
  struct Seen {
    Lane* lane;
    uint64_t stream, last, completed;
  };
  const std::lock_guard one_at_a_time(poll_mutex_);
  std::vector<Seen> seen;
  std::vector<Mixed> mixed;
  std::vector<Parked> parked;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& lane : lanes_) {
      spans_->ask(*lane);
      seen.push_back(
          {lane.get(), lane->stream.load(std::memory_order_relaxed), 0, 0});
    }
    mixed.swap(mixed_);
    parked.swap(parked_);
  }
  for (Seen& i : seen) {
    i.last = last_ticket(device_, i.stream);
    i.completed = completed_ticket(device_, i.stream);
  }
  for (Mixed& m : mixed) m.done = settle(m.uses);
  for (Parked& p : parked) p.done = settle(p.uses);
  const std::lock_guard lock(mutex_);
  for (const Seen& i : seen) {
    large_->settle(*i.lane, i.last, i.completed);
    spans_->settle(*i.lane, i.last, i.completed);
    if (i.completed == kEveryTicket) i.lane->unused = true;
  }
  for (Mixed& m : mixed) {
    if (m.done) {
      large_->give_idle(m.block);
      continue;
    }
    const auto only = std::find_if(seen.begin(), seen.end(), [&](auto& i) {
      return m.uses.only_in(device_, i.stream);
    });
    if (only == seen.end()) {
      mixed_.push_back(std::move(m));
    } else {
      m.block->lane = only->lane;
      large_->give(m.block, only->last);
    }
  }
  for (Parked& p : parked) {
    if (p.done) {
      give_small(p.data, p.block);
    } else {
      parked_.push_back(std::move(p));
    }
  }
}

void DeviceMemory::gather() noexcept {
  const std::lock_guard lock(mutex_);
  for (ThreadPart* t = threads_; t != nullptr; t = t->next) t->lock.want();
  OwnerLock::fence();
  for (ThreadPart* t = threads_; t != nullptr; t = t->next) {
    t->lock.await();
    t->report_at = ThreadPart::kAskFirst;
    for (Bins* bins = t->bins; bins != nullptr; bins = bins->next) {
      for (unsigned c = 0; c < kClasses; ++c) {
        while (bins->count[c] != 0) {
          void* const data = bins->pop(c);
          give_small(data, addresses.find(data));
        }
      }
    }
    t->lock.done();
  }
  for (const auto& lane : lanes_) {
    for (Block* b : lane->spans) {
      while (b != nullptr) {
        Block* const after = b->span->after;
        if (b->span->available() == b->span->total) retire_span(b);
        b = after;
      }
    }
  }
}

void DeviceMemory::reclaim() {
  poll();
  gather();
  poll();  // now also of spans that gather() found empty
}

std::vector<uint64_t> DeviceMemory::busy_streams() const {
  std::vector<uint64_t> out;
  for (const auto& lane : lanes_) {
    if (!lane->unused) {
      out.push_back(lane->stream.load(std::memory_order_relaxed));
    }
  }
  return out;
}

void DeviceMemory::trim() noexcept {
  try {
    reclaim();
    const std::lock_guard lock(mutex_);
    release_idle(kAll);
  } catch (...) {
    // A device that has failed: its memory goes with the process.
  }
}

void DeviceMemory::set_limit(int64_t bytes) noexcept {
  {
    const std::lock_guard lock(mutex_);
    limit_ = std::max<int64_t>(bytes, 0);
    if (limit_ == 0) return;
  }
  // Also so that all threads report before they hand out more.
  try {
    reclaim();
    const std::lock_guard lock(mutex_);
    const int64_t excess = static_cast<int64_t>(source_.held()) - limit_;
    if (excess > 0) release_idle(static_cast<size_t>(excess));
  } catch (...) {
    // As in trim().
  }
}

std::string DeviceMemory::table() const {
  const std::lock_guard lock(mutex_);
  return table_locked();
}

std::string DeviceMemory::table_locked() const {
  std::map<std::string_view, Holder> operators;
  for (const Block* b = large_->blocks(); b != nullptr; b = b->after) {
    if (b->state != Block::kUsed) continue;
    Holder& h = operators[b->op];
    h.bytes += static_cast<int64_t>(b->asked);
    ++h.blocks;
  }
  std::map<size_t, Holder> classes;
  for (const Block* b = spans_->blocks(); b != nullptr; b = b->after) {
    if (b->state != Block::kUsed || b->span == nullptr) continue;
    const int64_t used = b->span->total - b->span->available();
    if (used == 0) continue;
    const size_t bytes = class_bytes(b->span->cls);
    classes[bytes].bytes += used * static_cast<int64_t>(bytes);
    classes[bytes].blocks += used;
  }
  std::string out;
  Holder rest;
  size_t lines = 0;
  for (const auto& [op, h] : largest_first(operators)) {
    if (++lines > kTableLines) {
      rest.bytes += h.bytes;
      rest.blocks += h.blocks;
      continue;
    }
    out += str("\n  {}: {} in {}", op == "?" ? "no operator" : op,
               readable(h.bytes), blocks(h.blocks));
  }
  if (rest.blocks != 0) {
    out += str("\n  other operators: {} in {}", readable(rest.bytes),
               blocks(rest.blocks));
  }
  Holder small;
  std::string sizes;
  lines = 0;
  for (const auto& [bytes, h] : largest_first(classes)) {
    small.bytes += h.bytes;
    small.blocks += h.blocks;
    if (++lines > kTableSizes) continue;
    sizes += str("{}{} of {}", lines == 1 ? "" : ", ", h.blocks,
                 readable(static_cast<int64_t>(bytes)));
  }
  if (small.blocks != 0) {
    out += str("\n  small blocks: {} in {}: {}{}", readable(small.bytes),
               blocks(small.blocks), sizes,
               lines > kTableSizes ? " and others" : "");
  }
  return out;
}

void DeviceMemory::out_of_memory(Lock& lock, size_t bytes, const char* why) {
  const int64_t used = large_bytes_ + sum_small();
  const auto held = static_cast<int64_t>(source_.held());
  const int64_t limit = limit_;
  const std::string holders = table_locked();
  lock.unlock();
  size_t free = 0, total = 0;
  use_device(device_);
  driver::api().memory_info(&free, &total);
  const std::string_view op = running_operator_name();
  fail(ErrorKind::OutOfMemory,
       "[cuda:{}] out of memory: {} asked for {} bytes ({}); {} in use, {} "
       "cached, limit {}; the device has {} free of {} ({}){}{}",
       device_, op == "?" ? "a call" : op, bytes,
       readable(static_cast<int64_t>(bytes)), readable(used),
       readable(held - used),
       limit == 0 ? std::string("none") : readable(limit),
       readable(static_cast<int64_t>(free)),
       readable(static_cast<int64_t>(total)), why,
       holders.empty() ? "" : "\nin use by", holders);
}

}  // namespace sy::cuda
