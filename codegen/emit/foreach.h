#pragma once

#include "codegen/emit/common.h"

namespace sy::codegen {

// The kernels ID_foreach of a `foreach:` operator and of its forms.
void emit_foreach(Writer& w, const Model& model, const Operator& op);

}  // namespace sy::codegen
