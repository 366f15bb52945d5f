#pragma once

#include "aten/program/compiled_gen.h"
#include "aten/program/program.h"

// Programs that a backend may compile to loops of their own: the programs of
// entries with `compiled: true`. The generator lists these kNumCompiled
// programs in kCompiled, and names them in the enumeration Compiled.

namespace sy::program {

// Finds `program` among them; Compiled::none if it is not there. Programs of
// the library know their place (Program::compiled), others are compared with
// each.
SY_API Compiled find_compiled(const Program& program) noexcept;

}  // namespace sy::program
