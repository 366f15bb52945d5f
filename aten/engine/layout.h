#pragma once

#include <initializer_list>

#include "aten/tensor.h"

// How results lie in memory, as tags of an entry say (`format_of_self`). Whoever
// makes one, on whichever device, makes it so.

namespace sy {

// The dims of a tensor from the outermost in memory to the innermost. Tensors
// with another number of dims are row-major.
class DimOrder {
 public:
  DimOrder(std::initializer_list<int> dims) {
    for (const int d : dims) dims_[n_++] = static_cast<uint8_t>(d);
  }
  // As the memory format of `t` has them: channels last, or row-major.
  SY_API static DimOrder like(const TensorBase& t);

  // The strides of a dense tensor of these sizes.
  SY_API void strides_of(IntArrayRef sizes, int64_t* strides) const;
  bool is_row_major() const;
  int size() const { return n_; }

 private:
  uint8_t dims_[TensorImpl::kMaxDims];
  int n_ = 0;
};

// An uninitialised dense tensor on the device of `like`.
SY_API Tensor new_result(const TensorBase& like, IntArrayRef sizes,
                         ScalarType dtype, const DimOrder& order);

// A result that was made otherwise: itself if it lies so, else a copy.
SY_API Tensor laid_out(const Tensor& result, const DimOrder& order);

// Gives an out= argument that is row-major and not filled yet the order.
SY_API void lay_out(const Tensor& out, const DimOrder& order);

}  // namespace sy
