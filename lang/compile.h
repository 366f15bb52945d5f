#pragma once

#include <optional>
#include <span>

#include "lang/element.h"
#include "lang/program.h"

namespace sy::lang {

// Compiles element expressions into one program, a result for each: checked,
// folded, common subexpressions computed once, uniform ones hoisted, mul and
// add fused. Operands are the tensor names of `env` that occur, in its order
// (with `all_inputs` every one, so that operands can be passed blindly).
// Nothing after an error.
struct CompileOptions {
  bool all_inputs = true;
};
std::optional<Program> compile_element(std::span<const Expr> results,
                                       const ElementEnv& env,
                                       Diagnostics& diagnostics,
                                       const CompileOptions& options = {});
// For an expression that is known to be good; throws LangError.
Program compile_element(const Expr& e, const ElementEnv& env,
                        const CompileOptions& options = {});

}  // namespace sy::lang
