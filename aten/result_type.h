#pragma once

#include "aten/tensor.h"

namespace sy {

// The dtype that tensors have in common: promotion in which tensors without
// dims count only if their category (bool, integral, floating) is higher, and
// numbers least of all. Undefined tensors are skipped. Throws ValueError if no
// tensor is left.
SY_API ScalarType result_type(TensorList tensors);

}  // namespace sy
