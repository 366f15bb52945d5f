#pragma once

#include "aten/tensor.h"

// Elements put at indices into planes, for the gradients of max pooling and
// for its inverse.

namespace sy::cpu {

enum class Join {
  Add,   // elements of one index are added up, index -1 is nowhere
  Take,  // the last one stays
};

// out, with n dims of places, is zero but at `indices`, where the elements of
// `values` are: both have other places than out, and no others. Throws
// IndexError naming `op` for an index out of range.
void put_at_indices(const char* op, int64_t n, const Tensor& values,
                    const Tensor& indices, Join join, const Tensor& out);

}  // namespace sy::cpu
