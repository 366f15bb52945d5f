#pragma once

#include "aten/program/program.h"
#include "c10/scalar_type.h"

namespace sy {

// What the steps of a program ask of the dtype they compute in and `t` is not,
// "an integer or bool dtype" say; nullptr if it will do.
const char* missed_domain(const program::Program& program,
                          ScalarType t) noexcept;

}  // namespace sy
