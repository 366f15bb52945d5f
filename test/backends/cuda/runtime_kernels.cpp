// Kernels for tests of the runtime, as the fake NVRTC would compile them.

#include "test/backends/cuda/runtime_kernels.h"
#include "kernel.cuh"

using namespace sy::cuda::testing;

SY_KERNEL(step, StepParams, 256) {
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    p.out[i] = p.out[i] * p.factor + p.term;
  }
}

SY_KERNEL(gate, GateParams, 1) {
  while (*static_cast<const volatile int*>(p.gate) == 0) __nanosleep(1000);
  if (p.out != nullptr) *p.out = 1;
}

SY_KERNEL(report_value, ReportParams, 1) {
  if (p.value != 0) {
    report(p.head, static_cast<Fault>(p.code), p.argument, p.value, p.bound);
  }
}

SY_KERNEL(nothing, NothingParams, 1024) {}

#ifdef __SANITIZE_THREAD__
#include "on_host/checked.h"
SY_ON_HOST_CHECKED(sy_on_host::touch)
#endif
