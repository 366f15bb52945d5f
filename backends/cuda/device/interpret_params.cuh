#pragma once

#include "launch_head.cuh"

// The argument of interpret.cu, for the host and for the kernel.

namespace sy::cuda {

constexpr int kInterpretedOperands = 10, kInterpretedNumbers = 74,
              kInterpretedDims = 16, kInterpretedResults = 10,
              kInterpretedSteps = 224;

struct InterpretParams {
  LaunchHead head;
  long long n;
  int inputs, results, uniforms, steps, registers, dims;
  // The steps, on the device, if there are more than there is room for here; or
  // null.
  const unsigned char* steps_elsewhere;
  unsigned long long bool_inputs, immediate;
  // The data of inputs, then of results: null for immediate inputs.
  void* data[kInterpretedOperands];
  // Uniforms, then immediate inputs: low bytes.
  unsigned long long numbers[kInterpretedNumbers];
  long long sizes[kInterpretedDims];
  long long strides[kInterpretedOperands][kInterpretedDims];  // bytes
  unsigned char dtypes[kInterpretedOperands];                 // ScalarType
  // Registers of results, and whether these are bools.
  unsigned char result[kInterpretedResults];
  unsigned char result_is_bool[kInterpretedResults];
  // Op, dst, a, b, c of each step.
  unsigned char step[kInterpretedSteps][5];
};

}  // namespace sy::cuda
