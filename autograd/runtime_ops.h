#pragma once

#include "aten/tensor.h"
#include "autograd/saved_meta.h"

// The operators that the tape itself calls, by name. Their kernels may be
// anybody's, on any device. In grad mode the calls are recorded.

namespace sy::autograd::rt {

Tensor add(const Tensor& a, const Tensor& b);
Tensor& add_(Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Scalar& b);
Tensor sum(const Tensor& t, IntArrayRef dims, bool keepdim);
Tensor view(const Tensor& t, IntArrayRef sizes);
Tensor reshape(const Tensor& t, IntArrayRef sizes);
Tensor as_strided(const Tensor& t, IntArrayRef sizes, IntArrayRef strides,
                  int64_t offset);
Tensor& copy_(Tensor& to, const Tensor& from);
Tensor& fill_(Tensor& t, const Scalar& value);
Tensor clone(const Tensor& t);
Tensor to_dtype(const Tensor& t, ScalarType dtype);
Tensor to_device(const Tensor& t, Device device, ScalarType dtype);

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype,
                     Device device);
Tensor zeros(IntArrayRef sizes, ScalarType dtype, Device device);
Tensor ones_like(const Tensor& t);
// Zeros with that metadata, in the memory of one element.
Tensor expanded_zeros(const SavedMeta& m);
// t summed to `sizes`, which broadcast to the sizes of t.
Tensor sum_to(const Tensor& t, IntArrayRef sizes);
bool has_nan(const Tensor& t);
bool broadcasts_to(IntArrayRef sizes, IntArrayRef larger);

}  // namespace sy::autograd::rt
