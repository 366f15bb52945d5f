#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "names.h"

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
  SY_CHECK(at != MAP_FAILED, OutOfMemory,
           "[" ACCEL_NAME "] cannot map the device's memory");
  return static_cast<char*>(at);
}

}  // namespace

DeviceMemory& DeviceMemory::of(int device) {
  static DeviceMemory* const memories[] = {new DeviceMemory(0),
                                           new DeviceMemory(1)};
  SY_CHECK(device >= 0 && device < kDevices, Value,
           "[" ACCEL_NAME "] device: expected 0 to ", kDevices - 1, ", got ",
           device);
  return *memories[device];
}

DeviceMemory::DeviceMemory(int device) : device_(device) {
  file_ = memfd_create(ACCEL_NAME, MFD_CLOEXEC);
  SY_CHECK(file_ >= 0 && ftruncate(file_, kCapacity) == 0, OutOfMemory,
           "[" ACCEL_NAME "] cannot make the device's memory");
  window_ = map(file_, PROT_NONE);
  pages_ = map(file_, PROT_READ | PROT_WRITE);
  free_[0] = kCapacity;
  stats_.limit = kCapacity;
}

void* DeviceMemory::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto free = static_cast<size_t>(
      std::max<int64_t>(0, stats_.limit - stats_.allocated));
  // Compared before rounding, which could overflow.
  const auto block =
      bytes > free
          ? free_.end()
          : std::find_if(free_.begin(), free_.end(), [&](const auto& b) {
              return b.second >= rounded(bytes);
            });
  SY_CHECK(block != free_.end(), OutOfMemory, "[" ACCEL_NAME ":", device_,
           "] cannot give ", bytes, " bytes: ", stats_.allocated, " of ",
           stats_.limit, " are in use");
  const auto [offset, size] = *block;
  free_.erase(block);
  if (size > rounded(bytes)) {
    free_[offset + rounded(bytes)] = size - rounded(bytes);
  }
  stats_.allocated += static_cast<int64_t>(bytes);
  stats_.peak = std::max(stats_.peak, stats_.allocated);
  ++stats_.allocations;
  return window_ + offset;
}

void DeviceMemory::deallocate(void* data, size_t bytes) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  const size_t offset = static_cast<size_t>(static_cast<char*>(data) - window_);
  auto block = free_.emplace(offset, rounded(bytes)).first;
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
  stats_.allocated -= static_cast<int64_t>(bytes);
}

sy::MemoryStats DeviceMemory::stats() const noexcept {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void DeviceMemory::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  stats_.peak = stats_.allocated;
}

// Free pages go back to the system; the addresses stay.
void DeviceMemory::trim() noexcept {
  const std::lock_guard lock(mutex_);
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
  SY_CHECK(at >= window_ && at + bytes <= window_ + kCapacity, Value,
           "[" ACCEL_NAME "] expected an address of the device's memory");
  return pages_ + (at - window_);
}

}  // namespace accel
