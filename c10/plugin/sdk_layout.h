#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/dispatch/dispatch_table.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/thread_state.h"
#include "c10/tensor/scalar_type.h"
#include "c10/tensor/tensor_impl.h"
#include "c10/tensor/value.h"
#include "c10/version.h"

// One number for all that a plugin and the library must agree on to exchange
// objects. Each computes it when it is compiled; both are compared before the
// plugin is loaded.

namespace sy {

// Raise it by hand when the meaning of a shared type changes and no size does.
inline constexpr uint32_t kLayoutRevision = 5;

constexpr uint64_t sdk_layout_hash() {
  const uint64_t parts[] = {
      kLayoutRevision,
      sizeof(TensorImpl),
      sizeof(StorageImpl),
      sizeof(Value),
      sizeof(Scalar),
      sizeof(Kernel),
      sizeof(CppSignature),
      sizeof(OperatorDef),
      sizeof(OperatorEntry),
      sizeof(DispatchTable),
      sizeof(DispatchSlot),
      sizeof(ThreadState),
      sizeof(ThreadModes),
      kMaxElementSize,
      static_cast<uint64_t>(DispatchKey::kNumFunctionality),
      static_cast<uint64_t>(kNumFixedBackends),
      static_cast<uint64_t>(kNumScalarTypes),
      kPerBackendFunctionality,
      TensorImpl::kInlineDims,
  };
  uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (uint64_t p : parts) {
    for (int i = 0; i < 8; ++i) {
      hash = (hash ^ ((p >> (8 * i)) & 0xff)) * 1099511628211ull;
    }
  }
  return hash;
}

}  // namespace sy
