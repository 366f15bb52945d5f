#pragma once

#include "aten/engine/dims.h"
#include "aten/tensor.h"

namespace sy::composite {

// The products of two tensors of as many dims, which broadcast, summed over
// `sum_dims` (distinct, from the start). Those keep size 1. By products of
// matrices. Throws ValueError, by the name of `op`, for sizes that do not fit.
Tensor contract(const char* op, const Tensor& a, const Tensor& b,
                IntArrayRef sum_dims);

}  // namespace sy::composite
