#include "aten/backend/engine_kernels.h"

#include <algorithm>
#include <string_view>

namespace sy {

namespace {

// Initialisers of the families' sources fill it before any block runs.
constinit const SharedEngineKernels* families = nullptr;

}  // namespace

void EngineKernels::add(const char* name, void* unboxed,
                        const CppSignature& signature, BoxedFunction boxed) {
  const auto is_name = [&](const char* other) {
    return std::string_view(other) == name;
  };
  if (std::any_of(but_.begin(), but_.end(), is_name)) return;
  Kernel k;
  k.unboxed = unboxed;
  k.boxed = boxed;
  k.context = const_cast<BackendEngines*>(&engines_);
  k.signature = &signature;
  k.flags = Kernel::kChecksItself;
  library_.impl(name, k);
}

SharedEngineKernels::SharedEngineKernels(Add add) noexcept
    : add_(add), next_(families) {
  families = this;
}

void register_engine_kernels(Library& m, const BackendEngines& engines,
                             ArrayRef<const char*> but) {
  EngineKernels kernels(m, engines, but);
  for (const SharedEngineKernels* f = families; f != nullptr; f = f->next_) {
    f->add_(kernels);
  }
}

}  // namespace sy
