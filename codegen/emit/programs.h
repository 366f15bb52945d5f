#pragma once

#include <string>
#include <vector>

#include "codegen/emit/common.h"
#include "codegen/model_names.h"
#include "model/compiled.h"
#include "model/programs.h"

namespace sy::codegen {

// Writes a program as constants named after `prefix` and gives the name of the
// ElementProgram. `indices`: the indices of the call's scalars, one for each of
// the program's; empty if they are the same.
std::string emit_program(Writer& w, const std::string& prefix,
                         const lang::Program& program,
                         const std::vector<std::string>& indices,
                         const CompiledPrograms& compiled);
// The steps alone: writes arrays named after `prefix`, and gives the fields of
// a program::Program, a line each.
std::string emit_steps(Writer& w, const std::string& prefix,
                       const lang::Program& program,
                       const CompiledPrograms& compiled);

// "Uniform::of(0.5)"
std::string uniform_text(Writer& w, const lang::Uniform& u);
// The names of namespace lang that programs use, as `using` declarations.
void emit_program_names(Writer& w);

// A PointwiseOp of that name, in the namespace that is open.
void emit_pointwise_op(Writer& w, const std::string& id,
                       const PointwiseParts& parts,
                       const CompiledPrograms& compiled);

// "PromoteRule::IntToFloat" of "int_to_float".
std::string promote_rule(std::string_view rule);

}  // namespace sy::codegen
