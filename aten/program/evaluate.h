#pragma once

#include "aten/program/program.h"

namespace sy::program {

// Computes a primitive on one element, in plain C++: for callers without a
// kernel of it, and for tests. Floats are computed in double and rounded once.
// An integer divided by 0 gives 0. Operands beyond the arity are ignored.
SY_API Uniform evaluate(lang::Prim prim, ComputeType type, Uniform a,
                        Uniform b = {}, Uniform c = {}) noexcept;

}  // namespace sy::program
