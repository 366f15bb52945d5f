#include "aten/backend/cpu_fallback.h"
#include "aten/engine/copy.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/introspect.h"
#include "c10/plugin/library.h"
#include "test/conformance/host_device.h"

// A backend with kernels for just what `sy minimal-set` names, and none for the
// rest: composite operators must do with these. The kernels compute on the CPU.

namespace sy {
namespace {

HostDevice device;

bool is_composed(OperatorHandle op) {
  for (const KernelInfo& k : kernels_of(op)) {
    if (k.key.starts_with("Composite")) return true;
  }
  return false;
}

// The one kernel that writes what its signature does not say.
Tensor copy_from(const Tensor& self, const Tensor& dst, bool) {
  copy_between(dst, self);
  return dst;
}

SY_BACKEND(Minimal, m) { m.device("minimal", &device); }

SY_LIBRARY_IMPL(aten, Minimal, m) {
  for (const OperatorHandle op : Dispatcher::singleton().operators()) {
    if (!op.name().starts_with("aten::") || is_composed(op)) continue;
    const std::string_view name = op.name().substr(6);
    m.impl(name, name == "_copy_from" ? SY_FN(copy_from)
                                      : Kernel::from_boxed(&cpu_fallback));
  }
}

}  // namespace
}  // namespace sy
