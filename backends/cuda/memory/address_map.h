#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/cuda/memory/size_class.h"
#include "c10/macros.h"

namespace sy::cuda {

struct Block;

// Maps addresses of device memory to blocks, for all devices: the driver gives
// no address twice. One entry for each kUnit of addresses. Reading takes no
// lock and is right for memory that the reader holds. Writers are called under
// the mutex of the memory's device.
class AddressMap {
 public:
  // The block that an entry at [data, …) was set to; nullptr if none was.
  Block* find(const void* data) const noexcept {
    const auto cell = reinterpret_cast<uint64_t>(data) / kUnit;
    if (SY_UNLIKELY(cell >= kLeaves * kCells)) return nullptr;
    const Leaf* leaf = root_[cell / kCells].load(std::memory_order_acquire);
    return SY_LIKELY(leaf != nullptr)
               ? leaf->cells[cell % kCells].load(std::memory_order_relaxed)
               : nullptr;
  }
  // `address` is a multiple of kUnit. Throws OutOfMemoryError.
  void set(uint64_t address, size_t bytes, Block* block);

 private:
  // 49 bits of addresses.
  static constexpr size_t kCells = size_t{1} << 15;
  static constexpr size_t kLeaves = size_t{1} << 16;
  struct Leaf {
    std::atomic<Block*> cells[kCells];
  };
  std::atomic<Leaf*> root_[kLeaves];
};

extern constinit AddressMap addresses;

}  // namespace sy::cuda
