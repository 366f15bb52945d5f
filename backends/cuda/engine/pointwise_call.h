#pragma once

#include <cstdint>

#include "aten/program/program.h"
#include "backends/cuda/support/walk.h"

// One run of an element program on a device, after all checks: where the
// operands lie, and the kernel for them.

namespace sy::cuda {

class PointwiseEntry;

// For the stack; unused members are not initialised. Everything is borrowed.
struct PointwiseCall {
  static constexpr int kMaxOperands = Walker::kMost;
  static constexpr int kMaxNumbers = program::kMaxUniforms + kMaxOperands;

  const char* name = "";  // of the operator, for messages
  int device = 0;         // its index
  const program::Program* program = nullptr;
  program::ComputeType type = program::ComputeType::f32;
  // Inputs, then results. `immediate` inputs (bit i) are no tensors but
  // numbers, after the uniforms in the order of inputs.
  ScalarType dtypes[kMaxOperands];
  char* data[kMaxOperands];
  const TensorBase* tensors[kMaxOperands];
  uint64_t immediate = 0;
  program::Uniform numbers[kMaxNumbers];

  int operands() const { return program->n_inputs + program->n_results; }
};

// All operands are runs of n contiguous elements, or have one (bit i of
// `single`: input i).
void run_linear(PointwiseCall& call, int64_t n, uint64_t single);
// The same in two parts: the kernel, nullptr if the process has not used it
// before, and its run. The first looks at dtypes alone, not at data.
const PointwiseEntry* find_linear(const PointwiseCall& call,
                                  uint64_t single) noexcept;
void run_linear(const PointwiseEntry& kernel, PointwiseCall& call, int64_t n,
                uint64_t single);

// The operands of `walk` are the results and then the inputs, of any strides.
// `call.data` is not read.
void run_strided(PointwiseCall& call, const Walker& walk);

}  // namespace sy::cuda
