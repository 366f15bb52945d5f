#pragma once

#include "aten/tensor.h"

// Copies elements within CPU memory, with any strides and dtypes.

namespace sy::cpu {

// dst = src. src broadcasts to dst's sizes and is converted to its dtype. The
// two must not overlap, except element by element. Checks nothing.
void copy_elements(const TensorBase& dst, const TensorBase& src);

// The same for memory with elements of `item` bytes: 1, 2, 4, 8 or 16. Strides
// are in elements and may be negative.
void copy_strided(size_t item, IntArrayRef sizes, void* dst,
                  IntArrayRef dst_strides, const void* src,
                  IntArrayRef src_strides);

}  // namespace sy::cpu
