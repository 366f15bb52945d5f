#pragma once

#include "aten/tensor.h"
#include "autograd/saved_meta.h"

// Derivatives that are not operators. They call operators, so they can be
// differentiated again.

namespace sy::autograd {

// The gradient of a tensor, from `grad`, the gradient of its view. `base` and
// `view` say where the two lie in their storage. Elements that the view does
// not show get 0. Elements that it shows several times get the sum.
SY_API Tensor as_strided_backward(const Tensor& grad, const Geometry& base,
                                  const Geometry& view);

// Returns what a formula by operators reads in place of `t`. The same formula
// as an element program would use the elements of `t` as numbers: truth values
// are 0 and 1 of the dtype of `grad`. Operators refuse some truth values, and
// compute truth values of others.
SY_API Tensor as_numbers(const Tensor& t, const Tensor& grad);

}  // namespace sy::autograd
