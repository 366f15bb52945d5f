#pragma once

#include <cstdint>

#include "aten/engine/dims.h"
#include "aten/tensor.h"
#include "backends/cuda/support/walk.h"

// How reductions and scans walk memory, for kernels.

namespace sy::cuda {

// Adds a dim that is slower than those there; joins it to the last one if they
// lie as one. False if there is no room for it.
template <int kOperands>
bool push_dim(Walk<kOperands>* w, int64_t size,
              const int64_t (&strides)[kOperands]) {
  if (size == 1) return true;
  if (w->numel == 0) {  // the first one
    w->numel = 1;
    w->dims = 0;
  }
  w->numel *= size;
  const int last = w->dims - 1;
  bool joins = last >= 0;
  for (int k = 0; k < kOperands && joins; ++k) {
    joins = strides[k] == w->strides[k][last] * w->sizes[last];
  }
  if (joins) {
    w->sizes[last] *= size;
    return true;
  }
  if (w->dims == kWalkDims) return false;
  w->sizes[w->dims] = size;
  for (int k = 0; k < kOperands; ++k) w->strides[k][w->dims] = strides[k];
  ++w->dims;
  return true;
}

// Call this after the last dim. There must be elements.
template <int kOperands>
void close_walk(Walk<kOperands>* w) {
  if (w->numel == 0) {
    w->numel = 1;
    w->sizes[0] = 1;
  }
  finish_walk(*w);
}

// Whether kernels may read the elements: adopted memory can lie anywhere.
inline bool is_element_aligned(const TensorBase& t) {
  return reinterpret_cast<uintptr_t>(t.raw_data()) % t.itemsize() == 0;
}

// The dims of a tensor as two groups, each with the fastest first.
struct ReduceLayout {
  Walk<1> keep, reduce;
  // Row-major strides, in elements, of results in the order of the walk; one
  // for each dim of the result (keepdim or not).
  Dims result_strides;
  bool fits = true;  // else there are too many dims

  // Bit d of `reduced`: dim d of t is reduced. There must be elements.
  ReduceLayout(const TensorBase& t, uint64_t reduced, bool keepdim);
  // Whether the elements of a result lie closer together than results.
  bool inner() const {
    return keep.numel == 1 ||
           (reduce.numel != 1 && reduce.strides[0][0] <= keep.strides[0][0]);
  }
};

}  // namespace sy::cuda
