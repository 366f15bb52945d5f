#pragma once

#include "aten/tensor.h"

// Moving elements within CPU memory, at any strides and dtypes.

namespace sy::cpu {

// dst = src: src broadcasts to dst's sizes and converts to its dtype. They do
// not overlap, or element by element. Checks nothing.
void copy_elements(const TensorBase& dst, const TensorBase& src);

// The same for elements of one dtype in memory: strides in elements, which may
// be negative.
void copy_strided(ScalarType dtype, IntArrayRef sizes, void* dst,
                  IntArrayRef dst_strides, const void* src,
                  IntArrayRef src_strides);

}  // namespace sy::cpu
