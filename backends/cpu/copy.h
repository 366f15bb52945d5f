#pragma once

#include "aten/tensor.h"

// Moving elements within CPU memory, at any strides and dtypes.

namespace sy::cpu {

// dst = src: src broadcasts to dst's sizes and converts to its dtype. They do
// not overlap, or element by element. Checks nothing.
void copy_elements(const TensorBase& dst, const TensorBase& src);

// The same for elements of `item` bytes in memory, 1, 2, 4, 8 or 16: strides in
// elements, which may be negative.
void copy_strided(size_t item, IntArrayRef sizes, void* dst,
                  IntArrayRef dst_strides, const void* src,
                  IntArrayRef src_strides);

}  // namespace sy::cpu
