#pragma once

#include "aten/tensor.h"

// What generated kernels do around a hand-written one: make its result, prepare
// an out= argument, store a result in one.

namespace sy {

class OperatorEntry;

// An uninitialised contiguous tensor on the device of `like`.
SY_API Tensor new_result(const TensorBase& like, IntArrayRef sizes,
                         ScalarType dtype);

// Makes `out` fit to be written: on that device, of a dtype that `dtype` can be
// cast to, resized to `sizes` if it is not, no two of its elements in one place
// in memory. Throws ValueError, TypeError. Bumps its version.
SY_API void prepare_out(const OperatorEntry& op, Tensor& out, IntArrayRef sizes,
                        ScalarType dtype, Device device);

// Whether they may share an element.
SY_API bool overlaps(const TensorBase& a, const TensorBase& b);

// See guard.h; by the operator's name.
SY_API void check_same_device(const OperatorEntry& op,
                              const TensorBase* const* tensors, int n);

// prepare_out, then copies `result` to it.
SY_API void store_result(const OperatorEntry& op, const Tensor& result,
                         Tensor& out);
// The same for the in-place form: self keeps its sizes, result must have them.
SY_API void store_inplace(const OperatorEntry& op, const Tensor& result,
                          Tensor& self);

}  // namespace sy
