#pragma once

#include <sy/library.h>

#include <initializer_list>
#include <utility>

#include "calls.h"
#include "memory.h"
#include "names.h"

namespace accel {

// Whether the device can compute with these: float32, in its memory.
inline bool native(std::initializer_list<const sy::Tensor*> tensors) {
  for (const sy::Tensor* t : tensors) {
    if (t->scalar_type() != sy::kFloat || t->is_cpu()) return false;
  }
  return true;
}

// What a kernel leaves to the CPU: other dtypes, numbers in host memory. The
// operator goes the way of those that have no kernel here, and is counted so.
template <class Signature>
struct OnCpu;
template <class R, class... A>
struct OnCpu<R(A...)> {
  const char* op;

  R operator()(A... args) const {
    sy::Kernel fallback = sy::Kernel::from_boxed(&sy::cpu_fallback);
    fallback.op = &sy::Dispatcher::singleton().find_or_throw(op).entry();
    return sy::detail::call_kernel<R, A...>(&fallback, sy::DispatchKeySet(),
                                            std::forward<A>(args)...);
  }
};

}  // namespace accel
