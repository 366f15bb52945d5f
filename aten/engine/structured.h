#pragma once

#include "aten/tensor.h"

// The work of generated kernels around a hand-written one: they make its
// result, prepare an out= argument, store a result in one.

namespace sy {

class OperatorEntry;

// An uninitialised contiguous tensor on the device of `like`.
SY_API Tensor new_result(const TensorBase& like, IntArrayRef sizes,
                         ScalarType dtype);

// Prepares `out` for being written: resizes it to `sizes` and bumps its
// version. Throws ValueError or TypeError unless it is on `device`, its dtype
// can hold `dtype`, and each element has memory of its own.
SY_API void prepare_out(const OperatorEntry& op, Tensor& out, IntArrayRef sizes,
                        ScalarType dtype, Device device);

// Whether a and b may share an element.
SY_API bool overlaps(const TensorBase& a, const TensorBase& b);

// As in guard.h, for an operator's entry.
SY_API void check_same_device(const OperatorEntry& op,
                              const TensorBase* const* tensors, int n);

// prepare_out(), then copies `result` to out.
SY_API void store_result(const OperatorEntry& op, const Tensor& result,
                         Tensor& out);
// The same for the in-place form. result must have the sizes of self.
SY_API void store_inplace(const OperatorEntry& op, const Tensor& result,
                          Tensor& self);

}  // namespace sy
