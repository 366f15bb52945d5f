#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "codegen/model.h"

namespace sy::codegen {

// What is made of an operator, and from which line of which file: its forms,
// C++ names, contract, expression, element program, kernels by key, derivative,
// tests and pages.
std::string explain(const Model& model, const Operator& op);

// `sygen explain`: of the overload "add.Tensor", or of every overload of "add";
// of "mine::bump" in its namespace, else in any.
int explain_operator(const std::string& name,
                     const std::vector<std::string>& files, std::ostream& out,
                     std::ostream& err);

}  // namespace sy::codegen
