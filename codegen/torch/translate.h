#pragma once

#include <string_view>

#include "lang/ast.h"

namespace sy::codegen::torch {

// A formula of derivatives.yaml in our language, for real numbers: `conj` and
// calls that narrow complex results fall away, symbolic sizes are sizes. Null
// if it is C++ that the language cannot say. translate() does not check that
// the operators that it calls exist.
lang::Expr translate(std::string_view formula);

}  // namespace sy::codegen::torch
