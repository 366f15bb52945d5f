#include "test/backends/cuda/fake/driver/address_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace fake_cuda {
namespace {

constexpr size_t kMostJunk = size_t{64} << 20;
constexpr int kJunk = 0xcb;

// The memory of a device. It only grows: pages that are given back are cut out.
struct File {
  int descriptor = -1;
  size_t bytes = 0;
};

File& file_of(int device) {
  static std::array<File, kMostDevices>* const files =
      new std::array<File, kMostDevices>;
  File& f = (*files)[static_cast<size_t>(device)];
  if (f.descriptor < 0) {
    f.descriptor = memfd_create("fake_cuda_memory", MFD_CLOEXEC);
    if (f.descriptor < 0) {
      std::perror("fake_cuda: memfd_create");
      std::abort();
    }
  }
  return f;
}

}  // namespace

int descriptor_of(int device) { return file_of(device).descriptor; }

// Both under the mutex of the address space.
Physical::Physical(int device, size_t bytes) : device(device), bytes(bytes) {
  File& f = file_of(device);
  offset = f.bytes;
  f.bytes += bytes;
  if (ftruncate(f.descriptor, static_cast<off_t>(f.bytes)) != 0) {
    std::perror("fake_cuda: ftruncate");
    std::abort();
  }
  addresses().used[static_cast<size_t>(device)] += bytes;
}

Physical::~Physical() {
  fallocate(file_of(device).descriptor,
            FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(offset), static_cast<off_t>(bytes));
  addresses().used[static_cast<size_t>(device)] -= bytes;
}

AddressSpace& addresses() {
  static AddressSpace* const a = [] {
    auto* made = new AddressSpace;
    for (size_t bytes = size_t{1} << 40; bytes >= size_t{1} << 32;
         bytes >>= 1) {
      void* p = mmap(nullptr, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) continue;
      const auto at = reinterpret_cast<uintptr_t>(p);
      made->begin = (at + kGranularity - 1) & ~(kGranularity - 1);
      made->end = (at + bytes) & ~(kGranularity - 1);
      made->cursor = made->begin;
      return made;
    }
    std::fprintf(stderr, "fake_cuda: no addresses for devices\n");
    std::abort();
  }();
  return *a;
}

uintptr_t AddressSpace::take(size_t bytes, size_t alignment, bool by_user) {
  const auto align = [&](uintptr_t a) {
    return (a + alignment - 1) & ~(alignment - 1);
  };
  // The first gap at or after the cursor, then from the start.
  for (const uintptr_t from : {cursor, begin}) {
    uintptr_t at = align(from);
    auto it = reserved.upper_bound(at);
    if (it != reserved.begin()) {
      const auto before = std::prev(it);
      at = std::max(at, align(before->first + before->second.bytes));
    }
    for (;; ++it) {
      const uintptr_t limit = it == reserved.end() ? end : it->first;
      if (at <= limit && limit - at >= bytes) {
        reserved[at] = {bytes, by_user};
        cursor = at + bytes;
        return at;
      }
      if (it == reserved.end()) break;
      at = std::max(at, align(it->first + it->second.bytes));
    }
  }
  return 0;
}

std::map<uintptr_t, Mapping>::iterator AddressSpace::find(uintptr_t address) {
  auto it = mapped.upper_bound(address);
  if (it == mapped.begin()) return mapped.end();
  --it;
  return address - it->first < it->second.bytes ? it : mapped.end();
}

bool AddressSpace::is_whole(uintptr_t address, size_t bytes) {
  const uintptr_t stop = address + bytes;
  while (address < stop) {
    const auto it = mapped.find(address);
    if (it == mapped.end()) return false;
    address += it->second.bytes;
  }
  return address == stop;
}

void AddressSpace::protect(uintptr_t address, const Mapping& m) {
  int rights = PROT_NONE;
  if (m.writers != 0) {
    rights = PROT_READ | PROT_WRITE;
  } else if (m.readers != 0) {
    rights = PROT_READ;
  }
  // Memory of cuMemAlloc is protected with the page that it begins in.
  const uintptr_t from = address & ~uintptr_t{4095};
  const size_t bytes = address + m.bytes - from;
  if (settings().protect) {
    set_rights(from, bytes, m.readers, m.writers, m.owner != nullptr);
    rights = PROT_NONE;
  }
  mprotect(reinterpret_cast<void*>(from), bytes, rights);
}

void AddressSpace::clear(uintptr_t address, size_t bytes) {
  if (settings().protect) set_rights(address, bytes, 0, 0, false);
  mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void fill_with_junk(void* p, size_t bytes) {
  if (settings().junk) std::memset(p, kJunk, std::min(bytes, kMostJunk));
}

bool in_device_range(uintptr_t address) {
  const AddressSpace& a = addresses();
  return address >= a.begin && address < a.end;
}

int64_t device_bytes() {
  AddressSpace& a = addresses();
  const std::shared_lock lock(a.mutex);
  int64_t all = 0;
  for (size_t bytes : a.used) all += static_cast<int64_t>(bytes);
  return all;
}

int64_t pinned_bytes() {
  AddressSpace& a = addresses();
  const std::shared_lock lock(a.mutex);
  return static_cast<int64_t>(a.pinned_bytes);
}

bool AddressSpace::is_pinned(uintptr_t address, size_t bytes) const {
  auto it = pinned.upper_bound(address);
  if (it == pinned.begin()) return false;
  --it;
  return address - it->first <= it->second &&
         bytes <= it->second - (address - it->first);
}

bool AddressSpace::reachable(const ContextState& context, uintptr_t address,
                             size_t bytes) {
  if (!in_device_range(address)) return is_pinned(address, bytes);
  const unsigned me = 1u << context.device;
  const uintptr_t stop = address + bytes;
  while (address < stop) {
    const auto it = find(address);
    if (it == mapped.end()) return false;
    const Mapping& m = it->second;
    const bool peer =
        m.owner != nullptr && (context.peers >> m.device & 1) != 0;
    if ((m.readers & me) == 0 && !peer) return false;
    address = it->first + m.bytes;
  }
  return true;
}

bool is_pinned(uintptr_t address, size_t bytes) {
  AddressSpace& a = addresses();
  const std::shared_lock lock(a.mutex);
  return a.is_pinned(address, bytes);
}

bool reachable(const ContextState& context, uintptr_t address, size_t bytes) {
  AddressSpace& a = addresses();
  const std::shared_lock lock(a.mutex);
  return a.reachable(context, address, bytes);
}

int device_of(uintptr_t address, size_t bytes) {
  AddressSpace& a = addresses();
  const std::shared_lock lock(a.mutex);
  const auto first = a.find(address);
  if (first == a.mapped.end()) return -1;
  const uintptr_t stop = address + bytes;
  for (auto it = first; it->first + it->second.bytes < stop;) {
    const uintptr_t next = it->first + it->second.bytes;
    ++it;
    if (it == a.mapped.end() || it->first != next) return -1;
    if (it->second.device != first->second.device) return -1;
  }
  return first->second.device;
}

}  // namespace fake_cuda
