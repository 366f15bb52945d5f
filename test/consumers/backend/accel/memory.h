#pragma once

#include <sy/library.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "c10/memory/block_uses.h"

namespace accel {

// The memory of a device: pages of a file without a name that are mapped
// twice. Device addresses lie in a mapping that nobody may read or write;
// kernels and copies translate them to the other, which nobody else knows. A
// block that is freed while work uses it is used again by later work of the
// same stream, or once that work is done.
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
  void* allocate_on(size_t bytes, uint64_t stream) override;
  void note_use(const void* data, int device, uint64_t stream,
                uint64_t ticket) noexcept override;

  // For graphs: the block is used by nothing else, freed or not, until
  // let_go() was called as often.
  void keep(const void* data);
  void let_go(const void* data) noexcept;

  // The address at which kernels find `bytes` bytes of a device address; throws
  // ValueError if they are not the device's.
  void* translate(const void* address, size_t bytes) const;

 private:
  explicit DeviceMemory(int device);

  // Blocks are found by offset. A freed one waits for what uses it.
  struct Block {
    size_t room = 0;
    sy::BlockUses uses;
    int kept = 0;
    bool freed = false;
  };
  using Blocks = std::map<size_t, Block>;

  size_t offset(const void* data) const {
    return static_cast<size_t>(static_cast<const char*>(data) - window_);
  }
  // Makes room of freed blocks that nothing uses any more. Under mutex_, as the
  // next two.
  void settle() noexcept;
  void give_room(size_t offset, size_t room);
  // nullptr if there is no room.
  void* take(size_t bytes, uint64_t stream);

  mutable std::mutex mutex_;
  const int device_;
  int file_ = -1;
  char* window_ = nullptr;         // device addresses, no access
  char* pages_ = nullptr;          // the same memory for kernels
  std::map<size_t, size_t> free_;  // offset -> bytes; neighbours are merged
  Blocks blocks_;
  sy::MemoryStats stats_;
};

}  // namespace accel
