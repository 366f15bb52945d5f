#pragma once

#include <cstdint>

#include "aten/engine/dims.h"
#include "c10/tensor/tensor_base.h"

// How a reduction walks the elements of a tensor. The dims form two groups,
// each sorted (the fastest dim first) and merged where dims lie as one.

namespace sy::cpu {

struct DimGroup {
  int n = 0;
  int64_t numel = 1;
  int64_t sizes[TensorImpl::kMaxDims];
  int64_t strides[TensorImpl::kMaxDims];  // in bytes

  int64_t size(int i) const { return i < n ? sizes[i] : 1; }
  int64_t stride(int i) const { return i < n ? strides[i] : 0; }
  // The byte offset of element `index` of the dims from `first` on.
  int64_t offset(int64_t index, int first) const {
    int64_t at = 0;
    for (int i = first; i < n && index != 0; ++i) {
      at += index % sizes[i] * strides[i];
      index /= sizes[i];
    }
    return at;
  }
};

struct ReduceLayout {
  DimGroup kept;
  DimGroup reduced;
  const char* data;
  int64_t itemsize;
  // Row-major strides of a buffer in the order of `kept`, one for each dim of
  // the result (keepdim or not). With them the buffer is seen as the result.
  Dims result_strides;

  // `reduced_dims`: bit d is set if dim d of t is reduced.
  ReduceLayout(const TensorBase& t, uint64_t reduced_dims, bool keepdim);
  // Whether the elements of one result lie closer together than the results.
  bool inner() const {
    return kept.n == 0 ||
           (reduced.n != 0 && reduced.strides[0] <= kept.strides[0]);
  }
};

}  // namespace sy::cpu
