#pragma once

#include "launch_head.cuh"

// The arguments of the kernels of runtime_kernels.cpp, for them and for tests.

namespace sy::cuda::testing {

// out[i] = out[i] * factor + term
struct StepParams {
  LaunchHead head;
  long long n;
  long long* out;
  long long factor, term;
};

// Spins until the host writes something else than 0 to *gate, then writes 1 to
// *out.
struct GateParams {
  LaunchHead head;
  const int* gate;
  int* out;
};

// Reports `code` for argument `argument`, if the value is not 0.
struct ReportParams {
  LaunchHead head;
  int code, argument;
  long long value, bound;
};

struct NothingParams {
  LaunchHead head;
};

}  // namespace sy::cuda::testing
