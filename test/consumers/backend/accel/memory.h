#pragma once

#include <sy/library.h>

#include <cstddef>
#include <map>
#include <mutex>

namespace accel {

// The memory of a device: pages of a file without a name that are mapped
// twice. Device addresses lie in a mapping that nobody may read or write;
// kernels and copies translate them to the other, which nobody else knows.
class DeviceMemory final : public sy::Allocator {
 public:
  static constexpr size_t kCapacity = size_t{256} << 20;
  static constexpr int kDevices = 2;

  // Never destroyed: tensors may outlive static objects. Throws ValueError if
  // there is no such device.
  static DeviceMemory& of(int device);

  void* allocate(size_t bytes) override;
  void deallocate(void* data, size_t bytes) noexcept override;
  sy::MemoryStats stats() const noexcept override;
  void reset_peak() noexcept override;
  void trim() noexcept override;
  void set_limit(int64_t bytes) noexcept override;

  // Where kernels find `bytes` bytes at a device address; throws ValueError if
  // they are not the device's.
  void* translate(const void* address, size_t bytes) const;

 private:
  explicit DeviceMemory(int device);

  mutable std::mutex mutex_;
  const int device_;
  int file_ = -1;
  char* window_ = nullptr;         // device addresses, no access
  char* pages_ = nullptr;          // the same memory for kernels
  std::map<size_t, size_t> free_;  // offset -> bytes; neighbours are merged
  sy::MemoryStats stats_;
};

// The elements of a tensor on the device, from its first.
template <class T>
T* elements(const sy::TensorBase& t) {
  return static_cast<T*>(
      DeviceMemory::of(t.device().index()).translate(t.data_ptr(), sizeof(T)));
}

}  // namespace accel
