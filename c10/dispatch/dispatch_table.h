#pragma once

#include <bit>
#include <cstdint>

#include "c10/dispatch/dispatch_key_set.h"
#include "c10/dispatch/kernel.h"

namespace sy {

// The target of a call with one key. `fn` is the unboxed function to call with
// `kernel`. If `fn` is nullptr, the call takes the slow path: the kernel exists
// boxed only, is a fallthrough, or is missing.
struct DispatchSlot {
  void* fn = nullptr;
  const Kernel* kernel = nullptr;
};

// The immutable dispatch table of one operator. Each functionality has one slot
// or, where backends differ, a row with one slot per backend. Kernels made for
// this table (guards, fallbacks bound to the operator) follow the slots in the
// same block. The table is published through an atomic pointer, and freed when
// no call can hold it any more.
struct DispatchTable {
  static constexpr int kFunctionalities =
      static_cast<int>(DispatchKey::kNumFunctionality);

  uint64_t mask;  // functionalities that are not skipped; all backends
  uint32_t rows;  // functionalities with a row
  uint32_t own;   // backends whose kernel at Dense is for them alone
  uint16_t num_slots;
  uint16_t num_kernels;
  uint8_t first[kFunctionalities];
  uint8_t num_backends;

  const DispatchSlot* slots() const {
    return reinterpret_cast<const DispatchSlot*>(this + 1);
  }
  DispatchSlot* slots() { return reinterpret_cast<DispatchSlot*>(this + 1); }
  Kernel* kernels() { return reinterpret_cast<Kernel*>(slots() + num_slots); }
  size_t bytes() const {
    return sizeof *this + num_slots * sizeof(DispatchSlot) +
           num_kernels * sizeof(Kernel);
  }

  SY_ALWAYS_INLINE const DispatchSlot& find(DispatchKeySet keys) const {
    const auto f = static_cast<uint32_t>(keys.highest_functionality());
    uint32_t index = first[f];
    if ((rows >> f) & 1u) index += number_of(keys.highest_backend());
    return slots()[index];
  }
};

}  // namespace sy
