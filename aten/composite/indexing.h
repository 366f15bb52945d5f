#pragma once

#include "aten/tensor.h"

// Brings indices to the form that gather and scatter take.
namespace sy::composite {

// Returns t, or a vector of one element if t has no dims.
Tensor with_dims(const Tensor& t);

// A vector of indices along `dim`, expanded to `sizes`, as int64.
Tensor indices_along(const char* op, const Tensor& index, int64_t dim,
                     IntArrayRef sizes);

// Indices of a dim of size n, with negative ones counted from the start.
// Indices out of range stay out of range.
Tensor from_start(const Tensor& index, int64_t n);

}  // namespace sy::composite
