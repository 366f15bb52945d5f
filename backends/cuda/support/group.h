#pragma once

#include "aten/tensor.h"
#include "backends/cuda/sort.h"

// Sources grouped by where they go, and counts summed up. Everything is on the
// device and waits for nothing.

namespace sy::cuda {

// Contiguous int64 keys in [0, bound), sorted.
SortedKeys group(const Tensor& keys, int64_t bound);

// Each of n numbers of 64 bits becomes the sum of those before it; `counts` has
// one more, which becomes the sum of all.
void sum_before(const Tensor& counts, int64_t n);

}  // namespace sy::cuda
