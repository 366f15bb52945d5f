#pragma once

#include <sy/library.h>

#include <mutex>

namespace accel {

// Memory of the host that copies of the streams read and write while the host
// goes on. A real device would lock its pages.
class PinnedMemory final : public sy::Allocator {
 public:
  // Never destroyed: tensors may outlive static objects.
  static PinnedMemory& singleton();

  void* allocate(size_t bytes) override;
  void deallocate(void* data, size_t bytes) noexcept override;
  sy::MemoryStats stats() const noexcept override;

 private:
  mutable std::mutex mutex_;
  sy::MemoryStats stats_;
};

// Copies between a storage there and one on the device, in the current stream.
void begin_copy(const sy::Storage& dst, size_t dst_first,
                const sy::Storage& src, size_t src_first, size_t bytes,
                int device);

}  // namespace accel
