#pragma once

#include <optional>
#include <vector>

#include "aten/engine/dims.h"
#include "aten/tensor.h"

// The meaning of a list of index tensors (index, index_put) for a tensor of
// given sizes. For kernels of any backend.

namespace sy {

using OptionalTensors = ArrayRef<std::optional<Tensor>>;

// A dim and the indices along it: integers whose sizes broadcast with those of
// the indices along other dims.
struct IndexedDim {
  Tensor index;
  int64_t dim, size, stride;
};

// The dims of a result are `before`, `index`, `after`. If the indexed dims of
// self are neighbours, the other dims stay around them; else all other dims are
// in `after`. Strides are those of self, in elements.
struct IndexPlan {
  std::vector<IndexedDim> dims;
  Dims before, before_strides;
  Dims index;
  Dims after, after_strides;

  int64_t count() const;  // the number of elements of `index`
  Dims result_sizes() const;
};

// Masks become the indices of their true elements, so this reads masks. Throws
// IndexError for too many indices, for dtypes other than int64, int32, bool and
// uint8, for masks that do not fit and for indices that do not broadcast.
SY_API IndexPlan plan_index(const char* op, const Tensor& self,
                            OptionalTensors indices);

// The memory offsets that the indices stand for, as a contiguous int64 tensor
// of plan.count() elements. One element of self counts as `unit`. Throws
// IndexError that names the dim and the value for an index outside of [-n, n).
SY_API Tensor index_offsets(const char* op, const IndexPlan& plan,
                            int64_t unit);

// The places of the true elements of a CPU mask (bool or uint8) in row-major
// order: one int64 vector for each of its dims.
SY_API std::vector<Tensor> mask_indices(const Tensor& mask);

}  // namespace sy
