#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "backends/cuda/driver/api.h"

namespace sy::cuda {

// A device's memory as the driver gives it: pieces mapped into reserved
// addresses or, on devices without virtual memory, allocations at addresses
// that the driver chooses. Not thread-safe. Functions say so where the driver
// has no memory; any other failure throws Error.
class Source {
 public:
  struct Piece {
    uint64_t address;
    size_t bytes;
  };

  explicit Source(int device);

  // Reserves addresses, aligned to the granule. False: the device has no
  // virtual memory; then only allocate() and free() are of use.
  bool reserve(size_t bytes, uint64_t* address);
  // Maps memory at [address, address + bytes), multiples of the granule. May
  // map less, from the beginning on; returns how many bytes. Throws if an error
  // other than a lack of memory keeps it from mapping any.
  size_t map(uint64_t address, size_t bytes);
  // The first piece at or after `address`.
  std::optional<Piece> piece_from(uint64_t address) const;
  // No work may use the piece any more. False: the driver refuses, and the
  // piece stays.
  bool unmap(const Piece& piece) noexcept;

  // Another device may use what is mapped, now and later. Does nothing for
  // allocations, which contexts open to each other.
  void let_reach(int device);

  // At least `bytes` bytes, both aligned to kUnit; nothing where the driver has
  // no memory.
  std::optional<Piece> allocate(size_t bytes);
  void free(uint64_t address) noexcept;

  size_t granule() const { return granule_; }
  // The bytes that the driver has given.
  size_t held() const { return held_; }

 private:
  struct Mapped {
    size_t bytes;
    driver::MemoryHandle handle;
  };
  struct Allocated {
    driver::DevicePointer base;
    size_t bytes;
  };

  driver::Result grant(uint64_t address, size_t bytes);
  driver::Result map_piece(uint64_t address, size_t bytes);

  const int device_;
  const driver::Api& api_;
  driver::AllocationProperties properties_;
  size_t granule_;
  size_t held_ = 0;
  std::vector<driver::Access> access_;  // of what is mapped
  std::map<uint64_t, Mapped> mapped_;
  std::map<uint64_t, Allocated> allocated_;  // by the address that was given
};

}  // namespace sy::cuda
