#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "codegen/model_names.h"
#include "model/model.h"

namespace sy::codegen {

// Lists the products of an operator, and the file and line that each comes
// from: its forms, C++ names, contract, expression, element program, kernels by
// key, derivative, tests and pages.
std::string explain(const Model& model, const Operator& op);

// `sygen explain`: explains the overload "add.Tensor", or every overload of
// "add"; "mine::bump" in its namespace, other names in any.
int explain_operator(const std::string& name,
                     const std::vector<std::string>& files, std::ostream& out,
                     std::ostream& err);

}  // namespace sy::codegen
