#include <cstdlib>
#include <cstring>

#include "aten/cpu_fallback.h"
#include "c10/backend.h"
#include "c10/dispatcher.h"
#include "c10/error.h"
#include "c10/introspect.h"
#include "c10/library.h"

// A backend with kernels for just what `sy minimal-set` names, and none for the
// rest: what is composed must do with these. The kernels compute on the CPU.

namespace sy {
namespace {

class MinimalDevice final : public DeviceInterface, public Allocator {
 public:
  Allocator& allocator(int) override { return *this; }
  void copy_from_host(void* to, const void* from, size_t n, int) override {
    if (n != 0) std::memcpy(to, from, n);
  }
  void copy_to_host(void* to, const void* from, size_t n, int) override {
    if (n != 0) std::memcpy(to, from, n);
  }
  void copy_on_device(void* to, const void* from, size_t n, int) override {
    if (n != 0) std::memmove(to, from, n);
  }
  void* allocate(size_t n) override {
    if (n == 0) return nullptr;
    void* const p = std::aligned_alloc(64, (n + 63) / 64 * 64);
    SY_CHECK(p != nullptr, OutOfMemory, "no memory for ", n, " bytes");
    return p;
  }
  void deallocate(void* p, size_t) noexcept override { std::free(p); }
} device;

bool is_composed(OperatorHandle op) {
  for (const KernelInfo& k : kernels_of(op)) {
    if (k.key.starts_with("Composite")) return true;
  }
  return false;
}

SY_BACKEND(Minimal, m) { m.device("minimal", &device); }

SY_LIBRARY_IMPL(aten, Minimal, m) {
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (!op.name().starts_with("aten::") || is_composed(op)) continue;
    m.impl(op.name().substr(6), Kernel::from_boxed(&cpu_fallback));
  }
}

}  // namespace
}  // namespace sy
