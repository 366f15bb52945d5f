#pragma once

#include "aten/engine/dims.h"
#include "aten/tensor.h"

// Shared by the kernels that read and write at indices.

namespace sy::cpu {

// The fewest elements that a thread takes.
constexpr int64_t kIndexGrain = 32768;

// The sizes and strides of a tensor. A tensor without dims has one dim of size
// 1.
Dims sizes_of(const TensorBase& t);
Dims strides_of(const TensorBase& t);

// Indices as int64, each in [0, n). Dims that an index is expanded along have
// stride 0, so that each index is there once.
struct Indices {
  Tensor tensor;
  Dims strides;  // in elements

  const int64_t* data() const {
    return static_cast<const int64_t*>(tensor.raw_data());
  }
};
// Throws IndexError that names the dim and the value. With `wrap`, negative
// indices count from the end.
Indices checked_indices(const char* op, const Tensor& index, int64_t dim,
                        int64_t n, bool wrap = false);
// The same for a vector of indices along `dim` of `ndim` dims; other strides
// are 0.
Indices checked_vector(const char* op, const Tensor& index, int64_t dim,
                       int64_t n, int64_t ndim, bool wrap = false);

// Throws ValueError unless t has as many dims as `index`, and no size of index
// except that of `dim` exceeds that of t.
void check_covers(const char* op, const char* argument, const Tensor& t,
                  const Tensor& index, int64_t dim);

// out = self, for an operator that then changes some elements. Does nothing if
// out is self. self broadcasts.
void start_result(const Tensor& out, const Tensor& self);

// Each element of `to` is the element of `from` at the same place, moved by
// step * index bytes. `index` has its own strides. All strides are in elements.
struct GatherPlan {
  Dims sizes;
  const void* from;
  Dims from_strides;
  const int64_t* index;
  Dims index_strides;
  int64_t step;  // in bytes, for an index of 1
  void* to;
  Dims to_strides;
};
void gather(size_t itemsize, const GatherPlan& plan);

}  // namespace sy::cpu
