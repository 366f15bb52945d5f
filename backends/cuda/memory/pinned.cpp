#include "backends/cuda/memory/pinned.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "backends/cuda/driver/api.h"
#include "backends/cuda/memory/streams.h"
#include "backends/cuda/runtime/context.h"
#include "c10/process/error.h"

namespace sy::cuda {
namespace {

// Chunks are this large, or one block if that is larger.
constexpr int kChunkLog = 18;

}  // namespace

PinnedMemory::PinnedMemory() {
  stats_.limit = bytes_from_environment("SWITCHYARD_CUDA_PINNED_LIMIT", 0);
}

int PinnedMemory::log_of(size_t bytes) {
  return std::max(kFirstLog, static_cast<int>(std::bit_width(bytes - 1)));
}

PinnedMemory::Chunks::iterator PinnedMemory::chunk_of(
    const void* data) noexcept {
  return std::prev(chunks_.upper_bound(static_cast<const char*>(data)));
}

void* PinnedMemory::take(int log) {
  auto& list = free_[static_cast<size_t>(log)];
  if (list.empty()) return nullptr;
  void* data = list.back();
  list.pop_back();
  --chunk_of(data)->second.free_count;
  return data;
}

void PinnedMemory::give(void* data, int log) noexcept {
  free_[static_cast<size_t>(log)].push_back(data);
  ++chunk_of(data)->second.free_count;
}

size_t PinnedMemory::chunk_bytes(int log) {
  return size_t{1} << std::max(log, kChunkLog);
}

bool PinnedMemory::fits(int log) const {
  return stats_.limit == 0 ||
         held_ <= stats_.limit - static_cast<int64_t>(chunk_bytes(log));
}

void* PinnedMemory::pin(int log) {
  use_any_device();  // the memory is for all
  const size_t bytes = chunk_bytes(log);
  void* base = nullptr;
  const driver::Result r = driver::api().host_allocate(
      &base, bytes, driver::kHostPortable | driver::kHostMapped);
  if (r == driver::kOutOfMemory) return nullptr;
  driver::check(r, "pinning memory of the host");
  chunks_[static_cast<char*>(base)] = {bytes, log, 0};
  held_ += static_cast<int64_t>(bytes);
  ++stats_.system_calls;
  for (size_t at = bytes; at != 0;) {
    at -= size_t{1} << log;
    give(static_cast<char*>(base) + at, log);
  }
  return take(log);
}

void* PinnedMemory::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  const int log = log_of(bytes);
  const auto more = static_cast<int64_t>(bytes);
  Lock lock(mutex_);
  const auto refuse = [&](const char* why) {
    const int64_t used = stats_.allocated, cached = held_ - used;
    const int64_t limit = stats_.limit;
    lock.unlock();
    fail(ErrorKind::OutOfMemory,
         "[cuda] out of pinned memory: asked for {} bytes, {} in use, {} "
         "cached, limit {} ({})",
         bytes, used, cached,
         limit == 0 ? std::string("none") : std::to_string(limit), why);
  };
  if (log >= kLogs) refuse("no machine has so much");
  if (stats_.limit != 0 && more > stats_.limit - stats_.allocated) {
    refuse("SWITCHYARD_CUDA_PINNED_LIMIT changes the limit");
  }
  // Counted first: the lock is given up.
  stats_.allocated += more;
  stats_.peak = std::max(stats_.peak, stats_.allocated);
  ++stats_.allocations;
  void* data = nullptr;
  // Without the lock; then takes a block that is free.
  const auto try_after = [&](auto&& step) {
    lock.unlock();
    step();
    lock.lock();
    data = take(log);
  };
  try {
    data = take(log);
    if (data == nullptr && !waiting_.empty()) try_after([&] { poll(); });
    if (data == nullptr && !fits(log)) try_after([&] { release(); });
    if (data == nullptr && fits(log)) data = pin(log);
    if (data == nullptr) {
      try_after([&] {
        wait_for_all();
        poll();
      });
    }
    if (data == nullptr) try_after([&] { release(); });
    // Blocks are larger than what was asked for, which is within the limit.
    if (data == nullptr) data = pin(log);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    stats_.allocated -= more;
    throw;
  }
  if (data == nullptr) {
    stats_.allocated -= more;
    refuse("the system pins no more");
  }
  return data;
}

void PinnedMemory::deallocate(void* data, size_t bytes) noexcept {
  if (data == nullptr) return;
  const int log = log_of(bytes);
  const std::lock_guard lock(mutex_);
  stats_.allocated -= static_cast<int64_t>(bytes);
  const auto used = uses_.extract(data);
  if (used.empty()) return give(data, log);
  waiting_.push_back({data, log, std::move(used.mapped()), false});
}

void PinnedMemory::note_use(const void* data, int device, uint64_t stream,
                            uint64_t ticket) noexcept {
  if (data == nullptr) return;
  const std::pair place(device, stream);
  const std::lock_guard lock(mutex_);
  uses_[data].add(device, stream, ticket);
  if (std::find(streams_.begin(), streams_.end(), place) == streams_.end()) {
    streams_.push_back(place);
  }
}

void PinnedMemory::poll() {
  const std::lock_guard one_at_a_time(poll_mutex_);
  std::vector<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(waiting_);
  }
  for (Waiting& w : waiting) w.done = settle(w.uses);
  const std::lock_guard lock(mutex_);
  for (Waiting& w : waiting) {
    if (w.done) {
      give(w.data, w.log);
    } else {
      waiting_.push_back(std::move(w));
    }
  }
}

void PinnedMemory::wait_for_all() {
  std::vector<std::pair<int, uint64_t>> streams;
  {
    const std::lock_guard lock(mutex_);
    streams.swap(streams_);
  }
  for (const auto& [device, stream] : streams) wait_for(device, stream);
}

void PinnedMemory::release() {
  use_any_device();
  std::vector<Chunks::node_type> idle;
  {
    const std::lock_guard lock(mutex_);
    idle.reserve(chunks_.size());
    for (auto at = chunks_.begin(); at != chunks_.end();) {
      const auto chunk = at++;
      const auto& [base, c] = *chunk;
      if (c.free_count != c.bytes >> c.log) continue;
      const char* const first = base;
      const char* const end = base + c.bytes;
      std::erase_if(free_[static_cast<size_t>(c.log)],
                    [&](void* b) { return b >= first && b < end; });
      idle.push_back(chunks_.extract(chunk));
    }
  }
  // The driver waits for the devices: a holder of the lock might keep them from
  // going on.
  for (Chunks::node_type& chunk : idle) {
    const Chunk c = chunk.mapped();
    char* const base = const_cast<char*>(chunk.key());
    const bool gone = driver::api().host_free(base) == driver::kSuccess;
    const std::lock_guard lock(mutex_);
    if (gone) {
      held_ -= static_cast<int64_t>(c.bytes);
      continue;
    }
    chunks_.insert(std::move(chunk));
    for (size_t at = 0; at != c.bytes; at += size_t{1} << c.log) {
      free_[static_cast<size_t>(c.log)].push_back(base + at);
    }
  }
}

void PinnedMemory::trim() noexcept {
  try {
    poll();
    release();
  } catch (...) {
    // Every device has failed: the memory goes with the process.
  }
}

MemoryStats PinnedMemory::stats() const noexcept {
  const std::lock_guard lock(mutex_);
  MemoryStats out = stats_;
  out.cached = held_ - out.allocated;
  return out;
}

void PinnedMemory::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  stats_.peak = stats_.allocated;
}

void PinnedMemory::set_limit(int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.limit = std::max<int64_t>(bytes, 0);
}

void PinnedMemory::before_fork() noexcept {
  poll_mutex_.lock();
  mutex_.lock();
}

void PinnedMemory::after_fork() noexcept {
  mutex_.unlock();
  poll_mutex_.unlock();
}

bool PinnedMemory::contains(const void* data, size_t bytes) const noexcept {
  const auto* const first = static_cast<const char*>(data);
  const std::lock_guard lock(mutex_);
  const auto after = chunks_.upper_bound(first);
  if (after == chunks_.begin()) return false;
  const auto& [base, c] = *std::prev(after);
  return bytes <= c.bytes && first <= base + (c.bytes - bytes);
}

}  // namespace sy::cuda
