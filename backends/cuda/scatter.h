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

// A source on the device, apart from what is written.
Source source_of(const Tensor& source, const Tensor& out);
// A vector of indices: the source has a slice for each. `wrap`: negative ones
// count from the end.
Route route_of_slices(const char* op, const Tensor& out, int64_t dim,
                      const Tensor& index, bool wrap);
// Throws ValueError unless the source has the sizes of self with one slice for
// each index.
void check_slices(const char* op, const Tensor& self, int64_t dim,
                  const Tensor& index, const Tensor& source);
// Indices for every element; `src` may be nullptr.
Route route_of_elements(const char* op, const Tensor& out, int64_t dim,
                        const Tensor& index, const Tensor* src);

// Writes the elements of the source to `out`. The last of several for one place
// stays, in the order of the indices.
void assign(const Route& route, const Tensor& out, const Source& source);
// Joins them, to each place in the order of the indices.
void join(const Route& route, const Tensor& out, const Source& source,
          JoinWay way, const JoinHow& how);

// An element of a dtype as kernels take it.
uint64_t element_bits(const Scalar& value, ScalarType dtype);

}  // namespace sy::cuda
