#pragma once

#include <sy/library.h>

#include <map>
#include <mutex>

#include "c10/memory/block_uses.h"

namespace accel {

// Memory of the host that copies of the streams read and write while the host
// goes on. A real device would lock its pages. Memory that is freed before its
// copies are done is `cached` until then.
class PinnedMemory final : public sy::Allocator {
 public:
  // Never destroyed: tensors may outlive static objects.
  static PinnedMemory& singleton();

  void* allocate(size_t bytes) override;
  void deallocate(void* data, size_t bytes) noexcept override;
  sy::MemoryStats stats() const noexcept override;
  void note_use(const void* data, int device, uint64_t stream,
                uint64_t ticket) noexcept override;

 private:
  struct Block {
    size_t bytes = 0;
    sy::BlockUses uses;
    bool freed = false;
  };
  // Frees what no copy uses any more. Under mutex_.
  void settle() const noexcept;

  mutable std::mutex mutex_;
  mutable std::map<const void*, Block> blocks_;
  mutable sy::MemoryStats stats_;
};

// Copies between a storage there and one on the device, in the current stream.
void begin_copy(const sy::Storage& dst, size_t dst_first,
                const sy::Storage& src, size_t src_first, size_t bytes,
                int device);

}  // namespace accel
