#pragma once

#include "backends/cpu/pooling.h"

// Shared by the kernels of max pooling. They find the largest elements of
// windows, and put elements at indices into planes, for gradients and for the
// inverse.

namespace sy::cpu {

// out = the largest element of each window of the last n dims of self. indices
// = its place in its plane.
void pool_max(int64_t n, const Tensor& self, const Windows& w,
              const Tensor& out, const Tensor& indices);

enum class AtIndex {
  Add,   // adds elements with the same index; skips index -1
  Take,  // the last one stays
};

// out has planes of n dims. It becomes 0, except that each element of `values`
// goes to its index in `indices`. Throws IndexError that names `op` for an
// index out of range.
void put_at_indices(const char* op, int64_t n, const Tensor& values,
                    const Tensor& indices, AtIndex join, const Tensor& out);

}  // namespace sy::cpu
