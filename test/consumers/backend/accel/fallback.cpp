#include "names.h"

// Every operator without a kernel here runs on the CPU and is counted.
ACCEL_KERNELS(_, m) {
  m.fallback(sy::Kernel::from_boxed(&sy::cpu_fallback));
}
