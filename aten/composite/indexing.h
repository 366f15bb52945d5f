#pragma once

#include "aten/tensor.h"

// Indices brought to the form that gather and scatter take.
namespace sy::composite {

// t; a tensor without dims as a vector of one element.
Tensor with_dims(const Tensor& t);

// A vector of indices along `dim` for every element of `sizes`.
Tensor indices_along(const char* op, const Tensor& index, int64_t dim,
                     IntArrayRef sizes);

// Indices of a dim of size n, counted from the start. Those outside stay
// outside.
Tensor from_start(const Tensor& index, int64_t n);

}  // namespace sy::composite
