#pragma once

#include <cstdint>
#include <vector>

#include "aten/contract/index_list.h"
#include "aten/engine/dims.h"
#include "aten/tensor.h"
#include "backends/cuda/device/indexing.cuh"

// Shared by the kernels that read and write at indices. Indices are int64 or
// int32 and stay on the device: one that is out of range is an error of the
// argument, noted by the kernel and thrown by the next wait.

namespace sy::cuda {

// The sizes and strides of a tensor. A tensor without dims has one dim of size
// 1.
Dims sizes_of(const TensorBase& t);
Dims strides_of(const TensorBase& t);

// Throws ValueError unless t has as many dims as `index`, and no size of index
// except that of `dim` exceeds that of t.
void check_covers(const char* op, const char* argument, const Tensor& t,
                  const Tensor& index, int64_t dim);

// Throws IndexError for indices of a dim without elements.
void check_not_empty(const char* op, int64_t size);

// The size for indices that are known to be right: offsets.
constexpr int64_t kAnywhere = INT64_MAX;

// Indices, of which each lies in [low, size); negative ones count from the end.
// Index k stands for k * step. Strides are those over what is walked, in
// elements.
struct IndexUse {
  Tensor index;
  Dims strides;
  int64_t low = 0, size = 0, step = 0;
};
// Returns the operand of kernels; `unit` is what a step of 1 counts there.
IndexOperand operand_of(const IndexUse& use, int64_t unit);

// Each element of `to` is the element of `from` at the same place, moved by
// what the indices stand for, in elements. All have strides over `sizes`.
struct ReadPlan {
  Dims sizes;
  const TensorBase* to;
  Dims to_strides;
  const TensorBase* from;
  Dims from_strides;
  std::vector<IndexUse> indices;
  int argument;  // of the operator: the indices
};
void read_at(const ReadPlan& plan);

// Adds up what the indices stand for: a contiguous int64 tensor of `sizes`.
// `base` are strides: element i has the sum of its places times these besides.
Tensor fold_indices(Device device, IntArrayRef sizes, IntArrayRef base,
                    const std::vector<IndexUse>& indices, int argument);

// A list of indices on the device of `self`, masks as the places that they are
// true at.
std::vector<std::optional<Tensor>> without_masks(const char* op,
                                                 const Tensor& self,
                                                 OptionalTensors indices);

}  // namespace sy::cuda
