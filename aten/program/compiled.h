#pragma once

#include "aten/program/compiled_gen.h"
#include "aten/program/program.h"

// Programs that have a loop of their own where a backend has compiled it: those
// of the entries with `compiled: true`, which the generator puts in
// kCompiled, of kNumCompiled, and names in the enumeration Compiled.

namespace sy::program {

// Which of them it is; Compiled::none if none. A program of the library knows
// (Program::compiled), others are compared with each.
SY_API Compiled find_compiled(const Program& program) noexcept;

}  // namespace sy::program
