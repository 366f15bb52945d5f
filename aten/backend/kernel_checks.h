#pragma once

#include "c10/macros.h"

namespace sy {

// While it lives, every call of a backend's kernel, in any thread, is checked
// against the contract of its operator:
// - Results have the count, sizes and dtypes of infer_results(), and are on the
//   devices of the arguments.
// - Arguments that the signature does not mark as written are unchanged.
// - Strides are right for views, and where `stride` or `memory_format` ask for
//   some.
// - Views are in the memory of their argument, other results in memory of their
//   own.
// - A written argument is returned as the very same tensor, and an out= of the
//   right size stays in its memory.
//
// A kernel that breaks this throws an Error that names it and its library. This
// is for finding mistakes: it reads all arguments twice.
//
// SWITCHYARD_CHECK=kernels does the same for a whole process. Without either,
// calls pay nothing. There may be one object at a time; a second one throws
// ValueError. End it outside of calls.
class SY_API KernelChecks {
 public:
  KernelChecks();
  ~KernelChecks();
  KernelChecks(const KernelChecks&) = delete;
  KernelChecks& operator=(const KernelChecks&) = delete;
};

}  // namespace sy
