#pragma once

#include "backends/cuda/compile/module.h"
#include "backends/cuda/engine/pointwise_call.h"

// Element programs without a compiled kernel: interpret.cu, which the library
// has for every compute type.

namespace sy::cuda {

// The places of operands, for any number of dims up to kInterpretedDims
// (device/interpret_params.cuh). Dim 0 is the fastest; strides are in bytes.
struct PointwisePlaces {
  int64_t n = 0;
  int dims = 0;
  const int64_t* sizes = nullptr;
  const int64_t* const* strides = nullptr;  // of each operand of the call
};

// The kernel: one of a compute type and, apart as they take the compiler long,
// one with the special functions.
const Function& interpreter(int device, program::ComputeType type,
                            bool special);

// Whether a pack, the library or the disk has that kernel for the device, or
// the process has used it: else it takes the compiler longer than a program
// does.
bool has_interpreter(int device, program::ComputeType type, bool special);
// Whether a program takes the second kernel.
bool needs_special_functions(const program::Program& p,
                             program::ComputeType type);

// The call's data is that of the first elements.
void interpret(const PointwiseCall& call, const PointwisePlaces& places);

}  // namespace sy::cuda
