#pragma once

#include "aten/engine/dims.h"
#include "aten/tensor.h"

namespace sy::composite {

// The products of two tensors with the same number of dims, which broadcast,
// summed over `sum_dims` (distinct, counted from the start). These dims keep
// size 1. Computed with matrix products. Throws ValueError that names `op` for
// sizes that do not fit.
Tensor contract(const char* op, const Tensor& a, const Tensor& b,
                IntArrayRef sum_dims);

}  // namespace sy::composite
