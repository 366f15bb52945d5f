#pragma once

#include "aten/tensor.h"

namespace sy {

// A number as a CPU tensor without dims (bool, int64 or float64). It has the
// lowest rank in promotion, as in `tensor + 1`, and goes with tensors of any
// device.
SY_API Tensor wrapped_scalar_tensor(const Scalar& value);
// A number as an ordinary tensor of that dtype. Throws ValueError if the value
// does not fit.
SY_API Tensor scalar_to_tensor(const Scalar& value, ScalarType dtype,
                               Device device = Device(kCPU));
// The value of the only element of a tensor on any device. Throws ValueError
// for another number of elements, NotImplementedError on Meta.
SY_API Scalar read_scalar(const char* op, const TensorBase& t);

}  // namespace sy
