#pragma once

#include "aten/tensor.h"
#include "backends/cpu/engine/scatter.h"

// Shared by kernels that write at the indices of a dim. Errors name `op`.

namespace sy::cpu {

// out = self, with alpha times the slices of source joined to the slices at the
// indices, which are a vector.
void join_slices(const char* op, const Tensor& self, int64_t dim,
                 const Tensor& index, const Tensor& source, Join how,
                 const Scalar& alpha, const Tensor& out);

// out = self with each element of src joined to the one at its index.
void join_elements(const char* op, const Tensor& self, int64_t dim,
                   const Tensor& index, const Tensor& src, Join how,
                   const Tensor& out);

}  // namespace sy::cpu
