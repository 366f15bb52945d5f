#pragma once

#include <string>
#include <vector>

#include "c10/dispatcher.h"
#include "c10/value.h"

namespace sy {

// The kernel of a backend for all operators that it has none for: copies the
// tensors among the arguments to the CPU by their storages (those that share
// one still do), calls the operator there, copies what was written back and
// the results over. Results that share memory with an argument become aliases
// on the device. Register it as
//   SY_LIBRARY_IMPL(_, Npu, m) {
//     m.fallback(Kernel::from_boxed(&sy::cpu_fallback));
//   }
SY_API void cpu_fallback(const Kernel& kernel, const OperatorEntry& op,
                         DispatchKeySet keys, Value* args, size_t num_args,
                         Value* results, size_t num_results);

// What is thrown in the scope of a ComposedCall instead of falling back: a call
// that is made of others goes to the CPU whole, or not at all.
struct NeedsFallback {};

class SY_API ComposedCall {
 public:
  ComposedCall() noexcept;
  ~ComposedCall();
  ComposedCall(const ComposedCall&) = delete;
  ComposedCall& operator=(const ComposedCall&) = delete;
};

// How often each operator took that way, most often first. Thread-safe.
struct FallbackCount {
  std::string op;
  int64_t calls;
};
SY_API std::vector<FallbackCount> fallback_counts();
SY_API void reset_fallback_counts();

}  // namespace sy
