#pragma once

#include <functional>
#include <string>

#include "codegen/model.h"

namespace sy::codegen {

// Whether an out= argument must have the very dtype of the result: what is no
// pointwise operator or reduction, and is not made of those alone. `elsewhere`
// answers for called operators that are not in the model, by schema; without
// it they are taken to convert.
bool has_exact_out(
    const Model& model, const Operator& op,
    const std::function<bool(const std::string& name)>& elsewhere = {});

// The compiled expression of a composite operator; of one element, if the
// entry is a foreach.
lang::TensorCode composite_code(const Model& model, const Operator& op);

}  // namespace sy::codegen
