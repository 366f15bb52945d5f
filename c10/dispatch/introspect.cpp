#include "c10/dispatch/introspect.h"

#include <algorithm>

#include "c10/device/backend.h"
#include "c10/dispatch/registry.h"

namespace sy {

namespace {

KernelInfo info_of(const KernelRecord& r) {
  KernelInfo out;
  out.key = key_name(r.key);
  out.owner = r.owner == nullptr ? "" : r.owner->name();
  out.file = r.file;
  out.line = r.line;
  out.boxed_only = r.kernel.unboxed == nullptr && r.kernel.boxed != nullptr;
  out.fallthrough = r.kernel.is_fallthrough();
  out.checks_itself = (r.kernel.flags & Kernel::kChecksItself) != 0;
  return out;
}

}  // namespace

std::vector<KernelInfo> Registry::kernel_infos(const OperatorEntry& e) const {
  const std::lock_guard lock(mutex_);
  std::vector<KernelInfo> out;
  for (const KernelRecord* r = e.kernels_; r != nullptr; r = r->next) {
    out.push_back(info_of(*r));
  }
  std::reverse(out.begin(), out.end());  // the list has the newest first
  return out;
}

DispatchInfo Registry::dispatch_info(const OperatorEntry& e,
                                     ResolvedKey key) const {
  DispatchInfo out;
  out.key = key_name(key);
  const Kernel* kernel = kernel_for(e, key.key, key.backend);
  if (kernel == nullptr) return out;
  out.route = DispatchInfo::Route::Fallback;
  for (const KernelRecord* r = e.kernels_; r != nullptr; r = r->next) {
    if (&r->kernel != kernel) continue;
    out.kernel = info_of(*r);
    out.route =
        r->key == key ? DispatchInfo::Route::Own : DispatchInfo::Route::Alias;
  }
  if (out.route == DispatchInfo::Route::Fallback) {
    const Fallbacks& f = fallbacks_[static_cast<int>(key.key)];
    for (const KernelRecord* r :
         {f.all, key.backend < 0 ? nullptr : f.backend[key.backend]}) {
      for (; r != nullptr; r = r->next) {
        if (&r->kernel == kernel) out.kernel = info_of(*r);
      }
    }
  }
  if (kernel->is_fallthrough()) out.route = DispatchInfo::Route::Fallthrough;
  return out;
}

std::vector<DispatchInfo> Registry::dispatch_infos(
    const OperatorEntry& e) const {
  const std::vector<BackendInfo> known = backends();
  const std::lock_guard lock(mutex_);
  std::vector<DispatchInfo> out;
  for (int i = DispatchTable::kFunctionalities - 1; i >= 0; --i) {
    const auto f = static_cast<DispatchKey>(i);
    if (((kPerBackendFunctionality >> i) & 1u) == 0) {
      out.push_back(dispatch_info(e, {f, -1}));
      continue;
    }
    for (const BackendInfo& b : known) {
      if (b.present) out.push_back(dispatch_info(e, {f, number_of(b.type)}));
    }
  }
  return out;
}

std::string Registry::owner_name(const OperatorEntry& e) const {
  const std::lock_guard lock(mutex_);
  return e.owner_ == nullptr ? "" : e.owner_->name();
}

std::vector<KernelInfo> kernels_of(OperatorHandle op) {
  return Registry::singleton().kernel_infos(op.entry());
}

std::vector<DispatchInfo> dispatch_of(OperatorHandle op) {
  return Registry::singleton().dispatch_infos(op.entry());
}

std::string owner_of(OperatorHandle op) {
  return Registry::singleton().owner_name(op.entry());
}

}  // namespace sy
