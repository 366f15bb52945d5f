#pragma once

#include "aten/engine/dims.h"
#include "aten/tensor.h"

// What the kernels that read and write at indices share.

namespace sy::cpu {

// Elements that one thread takes at least.
constexpr int64_t kIndexGrain = 32768;

// Sizes and strides of a tensor; one without dims has one dim of size 1.
Dims sizes_of(const TensorBase& t);
Dims strides_of(const TensorBase& t);

// Indices as int64, each in [0, n). Along dims that an index is expanded in,
// they are there once, with a stride of 0.
struct Indices {
  Tensor tensor;
  Dims strides;  // in elements

  const int64_t* data() const {
    return static_cast<const int64_t*>(tensor.raw_data());
  }
};
// Throws IndexError naming the dim and the value. With `wrap` indices count
// from the end if negative.
Indices checked_indices(const char* op, const Tensor& index, int64_t dim,
                        int64_t n, bool wrap = false);
// The same for a vector of them: its stride stands at `dim` of `ndim`.
Indices checked_vector(const char* op, const Tensor& index, int64_t dim,
                       int64_t n, int64_t ndim, bool wrap = false);

// Throws ValueError if a size of `index`, but that of `dim`, is greater than
// that of `t`.
void check_covers(const char* op, const char* argument, const Tensor& t,
                  const Tensor& index, int64_t dim);

// out = self, as the result of an operator that changes some of its elements;
// nothing to do where it is written in place. self broadcasts.
void start_result(const Tensor& out, const Tensor& self);

// to[i] = the element `offsets[i]` bytes behind `from`.
struct GatherPlan {
  Dims sizes;
  const void* from;
  Dims from_strides;
  const int64_t* index;
  Dims index_strides;
  int64_t step;  // in bytes, for 1 of index
  void* to;
  Dims to_strides;
};
void gather(size_t itemsize, const GatherPlan& plan);

}  // namespace sy::cpu
