#pragma once

#include "aten/engine/dims.h"
#include "aten/tensor.h"
#include "backends/cuda/device/scatter.cuh"
#include "backends/cuda/indexing.h"

// Shared by the kernels that write at indices.

namespace sy::cuda {

// The way of the elements of a source of these sizes: to the same place in all
// dims but `dim`, and in `dim` to what the index stands for. Strides over
// `sizes` in elements; to_strides[dim] is not used.
struct Route {
  const char* op = "";
  Dims sizes;
  int64_t dim = 0;
  IndexUse at;
  int argument = 0;  // of the operator: the indices
  Dims to_strides;
  int64_t span = 0;  // of `out`, in elements from its first one on
};

// A source; stride 0 in all dims for one value that goes everywhere.
struct Source {
  Tensor tensor;
  Dims strides;
};

// Writes the elements of the source to `out`. The last of several for one place
// stays, in the order of the indices.
void assign(const Route& route, const Tensor& out, const Source& source);
// Joins them, to each place in the order of the indices.
void join(const Route& route, const Tensor& out, const Source& source,
          JoinWay way, const JoinHow& how);

// An element of a dtype as kernels take it.
uint64_t element_bits(const Scalar& value, ScalarType dtype);

}  // namespace sy::cuda
