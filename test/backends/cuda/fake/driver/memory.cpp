#include "test/backends/cuda/fake/driver/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <mutex>

#include "test/backends/cuda/fake/driver/address_space.h"
#include "test/backends/cuda/fake/driver/entries.h"

// cuMemAlloc and pinned memory.

namespace fake_cuda {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAlignment = 512;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

namespace entry {

// The end of the memory is the end of its pages, and the page after it faults.
Result allocate(DevicePointer* out, size_t bytes) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (out == nullptr || bytes == 0) return kInvalidValue;
  if (faults().allocate.hit() != kSuccess) return kOutOfMemory;
  if (bytes > settings().memory) return kOutOfMemory;
  const size_t taken = round_up(bytes, kAlignment);
  const size_t pages = round_up(taken, kPage);
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  size_t& used = a.used[static_cast<size_t>(c->device)];
  if (settings().memory - used < taken) return kOutOfMemory;
  const uintptr_t room = a.take(pages + kPage, kPage, false);
  if (room == 0) return kOutOfMemory;
  void* const p =
      mmap(reinterpret_cast<void*>(room), pages, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (p == MAP_FAILED) {
    a.reserved.erase(room);
    return kOutOfMemory;
  }
  const uintptr_t address = room + pages - taken;
  fill_with_junk(reinterpret_cast<void*>(address), taken);
  Mapping m;
  m.bytes = taken;
  m.device = c->device;
  m.owner = c;
  m.readers = m.writers = 1u << c->device;
  a.protect(address, m);
  a.mapped[address] = std::move(m);
  used += taken;
  ++counters().allocations;
  *out = address;
  return kSuccess;
}

// Waits for the device, as the real one does.
Result free(DevicePointer p) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (p == 0) return kSuccess;
  AddressSpace& a = addresses();
  ContextState* owner;
  {
    const std::shared_lock lock(a.mutex);
    const auto it = a.mapped.find(p);
    if (it == a.mapped.end() || it->second.owner == nullptr) {
      return kInvalidValue;
    }
    owner = it->second.owner;
  }
  wait_for_context(*owner);
  const std::lock_guard lock(a.mutex);
  const auto it = a.mapped.find(p);
  if (it == a.mapped.end()) return kInvalidValue;
  const size_t bytes = it->second.bytes;
  a.used[static_cast<size_t>(it->second.device)] -= bytes;
  const uintptr_t room = p & ~uintptr_t{kPage - 1};
  AddressSpace::clear(room, p + bytes - room);
  a.mapped.erase(it);
  a.reserved.erase(room);
  return kSuccess;
}

Result memory_info(size_t* free, size_t* total) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  AddressSpace& a = addresses();
  const std::shared_lock lock(a.mutex);
  if (free != nullptr) {
    *free = settings().memory - a.used[static_cast<size_t>(c->device)];
  }
  if (total != nullptr) *total = settings().memory;
  return kSuccess;
}

Result host_allocate(void** out, size_t bytes, unsigned flags) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (out == nullptr || bytes == 0 || flags > 7) return kInvalidValue;
  if (faults().host_allocate.hit() != kSuccess) return kOutOfMemory;
  const size_t room = round_up(bytes, kPage);
  void* const p = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return kOutOfMemory;
  fill_with_junk(p, bytes);
  AddressSpace& a = addresses();
  const std::lock_guard lock(a.mutex);
  a.pinned[reinterpret_cast<uintptr_t>(p)] = bytes;
  a.pinned_bytes += bytes;
  ++counters().host_allocations;
  *out = p;
  return kSuccess;
}

Result host_free(void* p) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  AddressSpace& a = addresses();
  {
    const std::shared_lock lock(a.mutex);
    if (!a.pinned.contains(reinterpret_cast<uintptr_t>(p))) {
      return kInvalidValue;
    }
  }
  std::vector<std::shared_ptr<ContextState>> all;
  {
    const std::lock_guard lock(state().mutex);
    all = state().contexts;
  }
  for (const auto& each : all) {
    if (each != nullptr) wait_for_context(*each);
  }
  const std::lock_guard lock(a.mutex);
  const auto it = a.pinned.find(reinterpret_cast<uintptr_t>(p));
  if (it == a.pinned.end()) return kInvalidValue;
  munmap(p, round_up(it->second, kPage));
  a.pinned_bytes -= it->second;
  a.pinned.erase(it);
  return kSuccess;
}

Result host_pointer(DevicePointer* out, void* p, unsigned flags) {
  ContextState* c;
  const Result r = usable_context(&c);
  if (r != kSuccess) return r;
  if (out == nullptr || flags != 0 ||
      !is_pinned(reinterpret_cast<uintptr_t>(p), 1)) {
    return kInvalidValue;
  }
  *out = reinterpret_cast<uintptr_t>(p);
  return kSuccess;
}

}  // namespace entry
}  // namespace fake_cuda
