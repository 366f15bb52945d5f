#include "pinned.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "memory.h"
#include "names.h"
#include "streams.h"

namespace accel {

PinnedMemory& PinnedMemory::singleton() {
  static auto* const memory = new PinnedMemory;
  return *memory;
}

void* PinnedMemory::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* const data = bytes > DeviceMemory::kCapacity
                         ? nullptr
                         : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  SY_CHECK(data != nullptr, OutOfMemory, "{}{} bytes",
           "[" ACCEL_NAME "] cannot pin ", bytes);
  const std::lock_guard lock(mutex_);
  settle();
  blocks_[data].bytes = bytes;
  stats_.allocated += static_cast<int64_t>(bytes);
  stats_.peak = std::max(stats_.peak, stats_.allocated);
  ++stats_.allocations;
  return data;
}

void PinnedMemory::deallocate(void* data, size_t bytes) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  blocks_[data].freed = true;
  stats_.allocated -= static_cast<int64_t>(bytes);
  stats_.cached += static_cast<int64_t>(bytes);
  settle();
}

sy::MemoryStats PinnedMemory::stats() const noexcept {
  const std::lock_guard lock(mutex_);
  settle();
  return stats_;
}

void PinnedMemory::note_use(const void* data, int device, uint64_t stream,
                            uint64_t ticket) noexcept {
  const std::lock_guard lock(mutex_);
  blocks_[data].uses.add(device, stream, ticket);
}

void PinnedMemory::settle() const noexcept {
  for (auto b = blocks_.begin(); b != blocks_.end();) {
    if (!b->second.freed || !b->second.uses.settle(Streams::singleton())) {
      ++b;
      continue;
    }
    std::free(const_cast<void*>(b->first));
    stats_.cached -= static_cast<int64_t>(b->second.bytes);
    b = blocks_.erase(b);
  }
}

void begin_copy(const sy::Storage& dst, size_t dst_first,
                const sy::Storage& src, size_t src_first, size_t bytes,
                int device) {
  // The address for the host's threads; pinned memory has it already.
  const auto place = [=](const sy::Storage& s, size_t first) {
    char* const at = static_cast<char*>(s->data()) + first;
    return s->is_pinned() ? at
                          : static_cast<char*>(
                                DeviceMemory::of(device).translate(at, bytes));
  };
  Streams::singleton().submit(
      device, {dst.get(), src.get()},
      [to = place(dst, dst_first), from = place(src, src_first), bytes] {
        std::memcpy(to, from, bytes);
      });
}

}  // namespace accel
