#pragma once

#include "aten/tensor.h"
#include "autograd/saved_meta.h"

// Derivatives that are not operators. Made of operators, so that they can be
// differentiated again.

namespace sy::autograd {

// Of a view that lies at `view` in the storage of a tensor that lies at `base`:
// the gradient of that tensor. Elements that the view does not show get 0;
// those that it shows several times, the sum.
SY_API Tensor as_strided_backward(const Tensor& grad, const Geometry& base,
                                  const Geometry& view);

}  // namespace sy::autograd
