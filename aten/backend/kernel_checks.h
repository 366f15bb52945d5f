#pragma once

#include "c10/macros.h"

namespace sy {

// While it lives, all that a backend's kernels give is compared with what their
// operators promise, in all threads: count, sizes and dtypes of the results as
// infer_results() has them, results on the devices of the arguments, and
// arguments that the signature does not mark as written left as they were. Also
// strides, of views and where `stride` or `memory_format` ask for some; views
// in the memory of their argument, other results in memory of their own; what
// is written comes back as the very tensor, and an out= of the right size stays
// in its memory. A kernel that breaks this is an Error which names it and its
// library. For finding mistakes: it reads all arguments twice.
//
// SWITCHYARD_CHECK=kernels does the same for a whole process. Without either,
// calls pay nothing. One at a time; throws ValueError for another. End it
// outside of calls.
class SY_API KernelChecks {
 public:
  KernelChecks();
  ~KernelChecks();
  KernelChecks(const KernelChecks&) = delete;
  KernelChecks& operator=(const KernelChecks&) = delete;
};

}  // namespace sy
