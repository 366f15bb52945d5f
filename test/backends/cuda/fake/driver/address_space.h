#pragma once

#include <array>
#include <map>
#include <memory>
#include <shared_mutex>

#include "test/backends/cuda/fake/driver/memory.h"

// The tables behind memory.h. Readers hold the mutex shared, writers hold it
// alone.

namespace fake_cuda {

inline constexpr int kMostDevices = 32;

// Pages of a device's file. Given back when neither the handle nor a mapping
// needs them.
struct Physical {
  int device = 0;
  size_t bytes = 0;
  size_t offset = 0;
  bool filled = false;  // with junk

  Physical(int device, size_t bytes);
  ~Physical();
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
};

struct Mapping {
  size_t bytes = 0;
  int device = 0;
  std::shared_ptr<Physical> pages;    // nullptr: of cuMemAlloc
  ContextState* owner = nullptr;      // of cuMemAlloc
  unsigned readers = 0, writers = 0;  // devices
};

// Addresses of devices that are taken.
struct Reservation {
  size_t bytes = 0;
  bool by_user = false;  // cuMemAddressReserve
};

struct AddressSpace {
  std::shared_mutex mutex;
  uintptr_t begin = 0, end = 0;
  uintptr_t cursor = 0;
  std::map<uintptr_t, Reservation> reserved;
  std::map<uintptr_t, Mapping> mapped;
  std::map<uintptr_t, size_t> pinned;
  std::map<driver::MemoryHandle, std::shared_ptr<Physical>> handles;
  uint64_t next_handle = 0x1000;
  std::array<size_t, kMostDevices> used{};  // bytes of each device
  size_t pinned_bytes = 0;

  // 0 if there is no room.
  uintptr_t take(size_t bytes, size_t alignment, bool by_user);
  // The mapping that holds the address, or mapped.end().
  std::map<uintptr_t, Mapping>::iterator find(uintptr_t address);
  // The same as those of memory.h.
  bool is_pinned(uintptr_t address, size_t bytes) const;
  bool reachable(const ContextState& context, uintptr_t address, size_t bytes);
  // Whether the range is whole mappings without a gap.
  bool is_whole(uintptr_t address, size_t bytes);
  // Lets devices do with the memory what the mapping says from now on. The
  // host's pages allow it too, unless they are to be opened for each access.
  static void protect(uintptr_t address, const Mapping& m);
  // No access, and no memory behind it.
  static void clear(uintptr_t address, size_t bytes);
};
AddressSpace& addresses();

// The file of the device's memory.
int descriptor_of(int device);

// For DeviceAccess: work of these devices (bits) can open the pages of a range.
// `plain` ones are those of cuMemAlloc.
void set_rights(uintptr_t address, size_t bytes, unsigned readers,
                unsigned writers, bool plain);

// Junk, as far as it is worth the time.
void fill_with_junk(void* p, size_t bytes);

}  // namespace fake_cuda
