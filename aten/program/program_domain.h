#pragma once

#include "aten/program/program.h"
#include "c10/tensor/scalar_type.h"

namespace sy {

// nullptr if the program can compute in dtype `t`; else what its steps ask of
// the dtype, such as "an integer or bool dtype".
const char* missed_domain(const program::Program& program,
                          ScalarType t) noexcept;

}  // namespace sy
