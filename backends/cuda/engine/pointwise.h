#pragma once

#include "aten/tensor.h"

namespace sy::cuda {

// to = from, converted: tensors of one device, of the same sizes and with any
// strides, that do not overlap but element by element. Checks nothing.
void copy_elements(const TensorBase& from, const TensorBase& to);

}  // namespace sy::cuda
