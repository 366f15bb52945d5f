#include "backends/cuda/memory/address_map.h"

#include <cstdlib>

#include "c10/process/error.h"

namespace sy::cuda {

// Pages of it that are never touched take no memory.
constinit AddressMap addresses{};

void AddressMap::set(uint64_t address, size_t bytes, Block* block) {
  const uint64_t first = address / kUnit;
  const uint64_t last = (address + bytes - 1) / kUnit;
  SY_CHECK(last < kLeaves * kCells, OutOfMemory,
           "[cuda] an address of the device: expected at most 49 bits, got {}",
           address);
  for (uint64_t cell = first; cell <= last; ++cell) {
    std::atomic<Leaf*>& place = root_[cell / kCells];
    Leaf* leaf = place.load(std::memory_order_acquire);
    if (leaf == nullptr) {
      auto* made = static_cast<Leaf*>(std::calloc(1, sizeof(Leaf)));
      SY_CHECK(made != nullptr, OutOfMemory,
               "[cuda] the host has no memory for a table of {} bytes",
               sizeof(Leaf));
      if (place.compare_exchange_strong(leaf, made)) {
        leaf = made;
      } else {
        std::free(made);
      }
    }
    leaf->cells[cell % kCells].store(block, std::memory_order_relaxed);
  }
}

}  // namespace sy::cuda
