#pragma once

#include "backends/cpu/pooling.h"

// What kernels of max pooling share: the largest elements of windows, and
// elements put at indices into planes, for the gradients and for the inverse.

namespace sy::cpu {

// out = the largest element of each window of the last n dims of self, indices
// = its place in its plane.
void pool_max(int64_t n, const Tensor& self, const Windows& w,
              const Tensor& out, const Tensor& indices);

enum class AtIndex {
  Add,   // elements of one index are added up, index -1 is nowhere
  Take,  // the last one stays
};

// out, with n dims of places, becomes zero, but for the elements of `values`,
// which go to `indices`. Throws IndexError naming `op` for an index out of
// range.
void put_at_indices(const char* op, int64_t n, const Tensor& values,
                    const Tensor& indices, AtIndex join, const Tensor& out);

}  // namespace sy::cpu
