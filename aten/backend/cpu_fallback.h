#pragma once

#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"

namespace sy {

// The kernel of a backend for all operators that it has no other kernel for. It
// copies the tensors among the arguments to the CPU, storage by storage
// (tensors that share a storage still do), calls the operator there, and copies
// the written arguments and the results back. Results that share memory with an
// argument become aliases on the device. Register it as
//   SY_LIBRARY_IMPL(_, Npu, m) {
//     m.fallback(Kernel::from_boxed(&sy::cpu_fallback));
//   }
SY_API void cpu_fallback(const Kernel& kernel, const OperatorEntry& op,
                         DispatchKeySet keys, Value* args, size_t num_args,
                         Value* results, size_t num_results);

// Thrown instead of falling back in the scope of a ComposedCall. A call that is
// made of others falls back as a whole, or not at all.
struct NeedsFallback {};

class SY_API ComposedCall {
 public:
  ComposedCall() noexcept;
  ~ComposedCall();
  ComposedCall(const ComposedCall&) = delete;
  ComposedCall& operator=(const ComposedCall&) = delete;
};

// How often each operator fell back, most often first. Thread-safe.
struct FallbackCount {
  std::string op;
  int64_t calls;
};
SY_API std::vector<FallbackCount> fallback_counts();
SY_API void reset_fallback_counts();

}  // namespace sy
