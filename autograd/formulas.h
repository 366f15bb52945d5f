#pragma once

#include "aten/tensor.h"
#include "autograd/saved_meta.h"

// Derivatives that are not operators. They call operators, so they can be
// differentiated again.

namespace sy::autograd {

// The gradient of a tensor that lies at `base`, made of that of its view, which
// lies at `view` in the same storage. Elements that the view does not show get
// 0; those that it shows several times, the sum.
SY_API Tensor as_strided_backward(const Tensor& grad, const Geometry& base,
                                  const Geometry& view);

}  // namespace sy::autograd
