#include <sys/mman.h>

#include <mutex>

#include "test/backends/cuda/fake/driver/address_space.h"
#include "test/backends/cuda/fake/driver/entries.h"

// Addresses and memory apart: cuMemAddressReserve, cuMemCreate, cuMemMap.

namespace fake_cuda {
namespace {

bool is_granular(uint64_t n) { return n != 0 && n % kGranularity == 0; }

bool is_location(const driver::Location& l) {
  return l.type == 1 && l.id >= 0 && l.id < settings().devices;
}

Result check_properties(const AllocationProperties* p) {
  if (p == nullptr || p->type != 1 || p->windows != nullptr) {
    return kInvalidValue;
  }
  if (p->location.type != 1) return kInvalidValue;
  return is_location(p->location) ? kSuccess : kInvalidDevice;
}

// Every function here needs a driver that runs, and none a current context,
// but for a fault that is known.
Result check_ready() {
  if (!state().initialized) return kNotInitialized;
  const ContextState* c = current_context();
  return c == nullptr ? kSuccess : static_cast<Result>(c->failed.load());
}

}  // namespace

namespace entry {

Result granularity(size_t* bytes, const AllocationProperties* properties,
                   int option) {
  Result r = check_ready();
  if (r == kSuccess) r = check_properties(properties);
  if (r != kSuccess) return r;
  if (bytes == nullptr || option < 0 || option > 1) return kInvalidValue;
  *bytes = kGranularity;
  return kSuccess;
}

Result reserve(DevicePointer* out, size_t bytes, size_t alignment,
               DevicePointer, unsigned long long flags) {
  const Result r = check_ready();
  if (r != kSuccess) return r;
  if (out == nullptr || !is_granular(bytes) || flags != 0 ||
      (alignment & (alignment - 1)) != 0) {
    return kInvalidValue;
  }
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  const uintptr_t at =
      a.take(bytes, alignment < kGranularity ? kGranularity : alignment, true);
  if (at == 0) return kOutOfMemory;
  *out = at;
  return kSuccess;
}

Result release_addresses(DevicePointer p, size_t bytes) {
  const Result r = check_ready();
  if (r != kSuccess) return r;
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  const auto it = a.reserved.find(p);
  if (it == a.reserved.end() || !it->second.by_user ||
      it->second.bytes != bytes) {
    return kInvalidValue;
  }
  const auto first = a.mapped.lower_bound(p);
  if (first != a.mapped.end() && first->first < p + bytes) {
    return kInvalidValue;
  }
  a.reserved.erase(it);
  return kSuccess;
}

Result create(MemoryHandle* out, size_t bytes,
              const AllocationProperties* properties,
              unsigned long long flags) {
  Result r = check_ready();
  if (r == kSuccess) r = check_properties(properties);
  if (r != kSuccess) return r;
  if (out == nullptr || !is_granular(bytes) || flags != 0) {
    return kInvalidValue;
  }
  if (faults().create.hit() != kSuccess) return kOutOfMemory;
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  const int device = properties->location.id;
  const size_t used = a.used[static_cast<size_t>(device)];
  if (settings().memory < used || settings().memory - used < bytes) {
    return kOutOfMemory;
  }
  *out = a.next_handle++;
  a.handles[*out] = std::make_shared<Physical>(device, bytes);
  ++counters().creations;
  return kSuccess;
}

Result release(MemoryHandle handle) {
  const Result r = check_ready();
  if (r != kSuccess) return r;
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  return a.handles.erase(handle) == 1 ? kSuccess : kInvalidValue;
}

Result map(DevicePointer p, size_t bytes, size_t offset, MemoryHandle handle,
           unsigned long long flags) {
  const Result r = check_ready();
  if (r != kSuccess) return r;
  // CUDA knows no other offset than 0.
  if (!is_granular(bytes) || p % kGranularity != 0 || offset != 0 ||
      flags != 0) {
    return kInvalidValue;
  }
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  const auto found = a.handles.find(handle);
  if (found == a.handles.end() || bytes > found->second->bytes) {
    return kInvalidValue;
  }
  auto room = a.reserved.upper_bound(p);
  if (room == a.reserved.begin()) return kInvalidValue;
  --room;
  if (!room->second.by_user || p + bytes > room->first + room->second.bytes) {
    return kInvalidValue;
  }
  const auto next = a.mapped.lower_bound(p);
  if (a.find(p) != a.mapped.end() ||
      (next != a.mapped.end() && next->first < p + bytes)) {
    return kInvalidValue;
  }
  const std::shared_ptr<Physical>& pages = found->second;
  if (mmap(reinterpret_cast<void*>(p), bytes, PROT_NONE,
           MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor_of(pages->device),
           static_cast<off_t>(pages->offset)) == MAP_FAILED) {
    return kOutOfMemory;
  }
  Mapping m;
  m.bytes = bytes;
  m.device = pages->device;
  m.pages = pages;
  a.mapped[p] = std::move(m);
  ++counters().mappings;
  return kSuccess;
}

Result unmap(DevicePointer p, size_t bytes) {
  const Result r = check_ready();
  if (r != kSuccess) return r;
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  if (bytes == 0 || !a.is_whole(p, bytes)) return kInvalidValue;
  const auto first = a.mapped.find(p), last = a.mapped.lower_bound(p + bytes);
  for (auto it = first; it != last; ++it) {
    if (it->second.pages == nullptr) return kInvalidValue;
  }
  AddressSpace::clear(p, bytes);
  a.mapped.erase(first, last);
  return kSuccess;
}

Result set_access(DevicePointer p, size_t bytes, const Access* access,
                  size_t count) {
  const Result r = check_ready();
  if (r != kSuccess) return r;
  if (access == nullptr || count == 0) return kInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    const int flags = access[i].flags;
    if (flags != 0 && flags != 1 && flags != 3) return kInvalidValue;
    if (!is_location(access[i].location)) return kInvalidDevice;
  }
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  if (bytes == 0 || !a.is_whole(p, bytes)) return kInvalidValue;
  const auto first = a.mapped.find(p), last = a.mapped.lower_bound(p + bytes);
  for (auto it = first; it != last; ++it) {
    if (it->second.pages == nullptr) return kInvalidValue;
  }
  for (auto it = first; it != last; ++it) {
    Mapping& m = it->second;
    for (size_t i = 0; i < count; ++i) {
      const unsigned bit = 1u << access[i].location.id;
      const int flags = access[i].flags;
      m.readers = flags != 0 ? m.readers | bit : m.readers & ~bit;
      m.writers = flags == 3 ? m.writers | bit : m.writers & ~bit;
    }
    if (!m.pages->filled) {
      m.pages->filled = true;
      void* const at = reinterpret_cast<void*>(it->first);
      mprotect(at, m.bytes, PROT_READ | PROT_WRITE);
      fill_with_junk(at, m.bytes);
    }
    a.protect(it->first, m);
  }
  return kSuccess;
}

}  // namespace entry
}  // namespace fake_cuda
