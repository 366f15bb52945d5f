#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "names.h"
#include "streams.h"

namespace accel {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;

size_t rounded(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

char* map(int file, int access) {
  void* at =
      mmap(nullptr, DeviceMemory::kCapacity, access, MAP_SHARED, file, 0);
  SY_CHECK(at != MAP_FAILED, OutOfMemory, "{}",
           "[" ACCEL_NAME "] cannot map the device's memory");
  return static_cast<char*>(at);
}

}  // namespace

DeviceMemory& DeviceMemory::of(int device) {
  static DeviceMemory* const memories[] = {new DeviceMemory(0),
                                           new DeviceMemory(1)};
  SY_CHECK(device >= 0 && device < kDevices, Value, "{}{}, got {}",
           "[" ACCEL_NAME "] device: expected 0 to ", kDevices - 1, device);
  return *memories[device];
}

DeviceMemory::DeviceMemory(int device) : device_(device) {
  file_ = memfd_create(ACCEL_NAME, MFD_CLOEXEC);
  SY_CHECK(file_ >= 0 && ftruncate(file_, kCapacity) == 0, OutOfMemory, "{}",
           "[" ACCEL_NAME "] cannot make the device's memory");
  window_ = map(file_, PROT_NONE);
  pages_ = map(file_, PROT_READ | PROT_WRITE);
  free_[0] = kCapacity;
  stats_.limit = kCapacity;
}

void* DeviceMemory::allocate(size_t bytes) {
  return allocate_on(bytes, Streams::singleton().current_stream(device_));
}

void* DeviceMemory::allocate_on(size_t bytes, uint64_t stream) {
  if (bytes == 0) return nullptr;
  std::unique_lock lock(mutex_);
  void* data = take(bytes, stream);
  if (data == nullptr && std::any_of(blocks_.begin(), blocks_.end(),
                                     [](auto& b) { return b.second.freed; })) {
    lock.unlock();
    Streams::singleton().drain(device_);
    lock.lock();
    data = take(bytes, stream);
  }
  SY_CHECK(data != nullptr, OutOfMemory,
           "{}{}] cannot give {} bytes: {} of {} are in use",
           "[" ACCEL_NAME ":", device_, bytes, stats_.allocated, stats_.limit);
  stats_.allocated += static_cast<int64_t>(bytes);
  stats_.peak = std::max(stats_.peak, stats_.allocated);
  ++stats_.allocations;
  return data;
}

void* DeviceMemory::take(size_t bytes, uint64_t stream) {
  // Compared before rounding, which could overflow.
  if (static_cast<int64_t>(bytes) > stats_.limit - stats_.allocated) {
    return nullptr;
  }
  settle();
  const size_t room = rounded(bytes);
  for (auto& [offset, b] : blocks_) {
    if (!b.freed || b.kept != 0 || b.room != room ||
        !b.uses.only_in(device_, stream)) {
      continue;
    }
    b.freed = false;
    return window_ + offset;
  }
  const auto found =
      std::find_if(free_.begin(), free_.end(),
                   [&](const auto& f) { return f.second >= room; });
  if (found == free_.end()) return nullptr;
  const auto [offset, size] = *found;
  free_.erase(found);
  if (size > room) free_[offset + room] = size - room;
  blocks_[offset].room = room;
  return window_ + offset;
}

void DeviceMemory::settle() noexcept {
  for (auto b = blocks_.begin(); b != blocks_.end();) {
    if (!b->second.freed || b->second.kept != 0 ||
        !b->second.uses.settle(Streams::singleton())) {
      ++b;
      continue;
    }
    give_room(b->first, b->second.room);
    b = blocks_.erase(b);
  }
}

void DeviceMemory::give_room(size_t offset, size_t room) {
  auto block = free_.emplace(offset, room).first;
  const auto next = std::next(block);
  if (next != free_.end() && block->first + block->second == next->first) {
    block->second += next->second;
    free_.erase(next);
  }
  if (block != free_.begin()) {
    const auto before = std::prev(block);
    if (before->first + before->second == block->first) {
      before->second += block->second;
      free_.erase(block);
    }
  }
}

void DeviceMemory::deallocate(void* data, size_t bytes) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  blocks_[offset(data)].freed = true;
  stats_.allocated -= static_cast<int64_t>(bytes);
}

void DeviceMemory::note_use(const void* data, int device, uint64_t stream,
                            uint64_t ticket) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  blocks_[offset(data)].uses.add(device, stream, ticket);
}

void DeviceMemory::keep(const void* data) {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  ++blocks_[offset(data)].kept;
}

void DeviceMemory::let_go(const void* data) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  --blocks_[offset(data)].kept;
}

sy::MemoryStats DeviceMemory::stats() const noexcept {
  const std::lock_guard lock(mutex_);
  sy::MemoryStats out = stats_;
  for (const auto& [offset, b] : blocks_) {
    if (b.freed) out.cached += static_cast<int64_t>(b.room);
  }
  return out;
}

void DeviceMemory::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  stats_.peak = stats_.allocated;
}

// Free pages go back to the system; the addresses stay.
void DeviceMemory::trim() noexcept {
  const std::lock_guard lock(mutex_);
  settle();
  for (const auto& [offset, size] : free_) {
    const size_t first = (offset + kPage - 1) / kPage * kPage;
    const size_t last = (offset + size) / kPage * kPage;
    if (first >= last) continue;
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(first), static_cast<off_t>(last - first));
  }
}

void DeviceMemory::set_limit(int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto most = static_cast<int64_t>(kCapacity);
  stats_.limit = bytes == 0 ? most : std::min(bytes, most);
}

void* DeviceMemory::translate(const void* address, size_t bytes) const {
  if (address == nullptr) return nullptr;
  const auto* at = static_cast<const char*>(address);
  SY_CHECK(at >= window_ && at + bytes <= window_ + kCapacity, Value, "{}",
           "[" ACCEL_NAME "] expected an address of the device's memory");
  return pages_ + (at - window_);
}

}  // namespace accel
