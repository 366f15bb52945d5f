#pragma once

#include "aten/tensor.h"

namespace sy {

// The dtype that tensors are promoted to. Tensors without dims count only if
// their category (bool, integral, floating) is higher than that of tensors with
// dims, and numbers count least of all. Undefined tensors are skipped. Throws
// ValueError if no tensor is left.
SY_API ScalarType result_type(TensorList tensors);

}  // namespace sy
