#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "test/backends/cuda/fake/driver/address_space.h"
#include "test/backends/cuda/fake/driver/memory.h"
#include "test/backends/cuda/fake/emulator/executor.h"

// Memory of devices that is opened by the access itself.

namespace fake_cuda {
namespace {

constexpr uintptr_t kPage = 4096;
// The bytes that one fault opens: the pages around it that have the same
// rights.
constexpr uintptr_t kWindow = 64 * kPage;

// The devices that may use a page.
struct Allowed {
  unsigned readers, writers;
  bool plain;  // of cuMemAlloc: the peers of its device, too
  friend bool operator==(const Allowed&, const Allowed&) = default;
};

// The rights to each page of the devices' addresses; most are never touched.
struct Rights {
  uintptr_t begin, end;
  Allowed* of;

  Allowed& at(uintptr_t address) const { return of[(address - begin) / kPage]; }
};

bool open_for_work(const void* p, bool write) noexcept;

const Rights& rights() {
  static const Rights* const made = [] {
    const AddressSpace& a = addresses();
    auto* r = new Rights{a.begin, a.end, nullptr};
    void* table = mmap(nullptr, (a.end - a.begin) / kPage * sizeof(Allowed),
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) {
      std::perror("fake_cuda: no memory for rights");
      std::abort();
    }
    r->of = static_cast<Allowed*>(table);
    set_fault_hook(open_for_work);
    return r;
  }();
  return *made;
}

struct Opened {
  uintptr_t address;
  size_t bytes;
};

// The work of the thread. Threads that only wait for the device have none.
struct Work {
  int depth = 0;
  unsigned device = 0, peers = 0;  // bits; 0: those of a copy
  std::vector<Opened> opened;

  int rights_to(const Allowed& a) const {
    const unsigned all = ~0u;
    const unsigned mine = device == 0 ? all : a.plain ? device | peers : device;
    if ((a.writers & mine) != 0) return PROT_READ | PROT_WRITE;
    return (a.readers & mine) != 0 ? PROT_READ : PROT_NONE;
  }
};
Work& work() {
  static thread_local Work w;
  return w;
}

bool open_for_work(const void* p, bool write) noexcept {
  const Rights& r = rights();
  const auto address = reinterpret_cast<uintptr_t>(p);
  if (address < r.begin || address >= r.end) return false;
  const Allowed& page_rights = r.at(address);
  Work& w = work();
  if (w.depth == 0) {
    constexpr char kText[] =
        "fake_cuda: the host touches memory of a device (FAKE_CUDA_PROTECT=0 "
        "lets it)\n";
    if (page_rights.readers != 0) {
      [[maybe_unused]] const ssize_t n = ::write(2, kText, sizeof kText - 1);
    }
    return false;
  }
  const int allowed = w.rights_to(page_rights);
  if (allowed == PROT_NONE || (write && (allowed & PROT_WRITE) == 0)) {
    return false;
  }
  const uintptr_t page = address & ~(kPage - 1);
  const uintptr_t window = address & ~(kWindow - 1);
  uintptr_t from = page, to = page + kPage;
  while (from > std::max(window, r.begin) &&
         r.at(from - kPage) == page_rights) {
    from -= kPage;
  }
  while (to < std::min(window + kWindow, r.end) && r.at(to) == page_rights) {
    to += kPage;
  }
  w.opened.push_back({from, to - from});
  return mprotect(reinterpret_cast<void*>(from), to - from, allowed) == 0;
}

}  // namespace

void set_rights(uintptr_t address, size_t bytes, unsigned readers,
                unsigned writers, bool plain) {
  const Rights& r = rights();
  const uintptr_t stop = address + bytes;
  for (; address < stop; address += kPage) {
    r.at(address) = {readers, writers, plain};
  }
}

DeviceAccess::DeviceAccess(const ContextState* of) {
  if (!settings().protect) return;
  rights();
  Work& w = work();
  // The handler does not grow it, but for work that touches 256 MB.
  w.opened.reserve(1024);
  ++w.depth;
  w.device = of == nullptr ? 0 : 1u << of->device;
  w.peers = of == nullptr ? 0 : of->peers.load();
}

// Other threads that use the same pages open them again.
DeviceAccess::~DeviceAccess() {
  if (!settings().protect) return;
  Work& w = work();
  if (--w.depth != 0) return;
  for (const Opened& o : w.opened) {
    mprotect(reinterpret_cast<void*>(o.address), o.bytes, PROT_NONE);
  }
  w.opened.clear();
}

}  // namespace fake_cuda
