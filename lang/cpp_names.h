#pragma once

#include <set>
#include <string>
#include <string_view>

#include "lang/ast.h"

// Names of schemas and expressions in generated C++.

namespace sy::lang {

// The name as C++ may spell it: with '_' after it if it is a keyword, or a type
// or function that generated code refers to without a namespace.
std::string cpp_name(std::string_view name);

// `wanted`, with as many '_' after it as make it none of `taken`.
std::string fresh_name(std::string wanted, const std::set<std::string>& taken);

// The C++ names of what `let` and comprehensions bind anywhere in `e`.
void add_bound_names(const Expr& e, std::set<std::string>& out);

}  // namespace sy::lang
