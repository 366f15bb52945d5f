#pragma once

#include "aten/tensor.h"
#include "backends/cuda/support/key_kind.h"

namespace sy::cuda::cub {

// Rows of n elements one after the other, sorted each by itself by the lowest
// `bits` bits of their keys, as sort_rows() of sort.h. False if CUB is not
// there or not worth it: nothing was done then.
bool sort(const KeyKind& kind, const Tensor& rows, int64_t n, bool descending,
          int bits, const Tensor& values, const Tensor& places);

}  // namespace sy::cuda::cub
