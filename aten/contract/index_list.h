#pragma once

#include <optional>
#include <vector>

#include "aten/engine/dims.h"
#include "aten/tensor.h"

// What a list of tensors of indices (index, index_put) means for a tensor of
// given sizes: for kernels of any backend.

namespace sy {

using OptionalTensors = ArrayRef<std::optional<Tensor>>;

// A dim and the indices that go along it: integers, of sizes that broadcast
// with those of the other dims.
struct IndexedDim {
  Tensor index;
  int64_t dim, size, stride;
};

// The dims of a result are `before`, `index`, `after`: those of self that have
// no index lie around the indexed ones if these are neighbours, else all
// behind. Strides are those of self, in elements.
struct IndexPlan {
  std::vector<IndexedDim> dims;
  Dims before, before_strides;
  Dims index;
  Dims after, after_strides;

  int64_t count() const;  // of index
  Dims result_sizes() const;
};

// Masks become the indices of their true elements, which are read. Throws
// IndexError for too many indices, for other dtypes than int64, int32, bool and
// uint8, for masks that do not fit and indices that do not broadcast.
SY_API IndexPlan plan_index(const char* op, const Tensor& self,
                            OptionalTensors indices);

// The distance in memory that each index means, in units of `unit` for each
// element: a contiguous int64 tensor of plan.count() elements. Throws
// IndexError naming the dim and the value for an index outside of [-n, n).
SY_API Tensor index_offsets(const char* op, const IndexPlan& plan,
                            int64_t unit);

// The places of the true elements of a CPU mask (bool or uint8) in row-major
// order: one int64 vector for each of its dims.
SY_API std::vector<Tensor> mask_indices(const Tensor& mask);

}  // namespace sy
