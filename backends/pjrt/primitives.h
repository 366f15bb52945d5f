#pragma once

#include <vector>

#include "aten/program/program.h"
#include "backends/pjrt/builder.h"

// Element programs as StableHLO.

namespace sy::pjrt {

// Whether each step has a lowering, with no error of its own to report: an
// integer that is divided by 0 is one.
bool is_lowered(const program::Program& program, program::ComputeType type);

// Inputs and uniforms have equal sizes, and the dtype of the compute type, or
// bool where the program has one.
std::vector<Ssa> lower(Builder& b, const program::Program& program,
                       program::ComputeType type, std::vector<Ssa> inputs,
                       const std::vector<Ssa>& uniforms);

}  // namespace sy::pjrt
