#pragma once

#include <cstdint>

#include "aten/tensor.h"

// Selection, sums and counts by CUB, as the functions of compact.h, group.h and
// histogram.cpp do them. Each is false if CUB is not there or not worth it:
// nothing was done then.

namespace sy::cuda::cub {

// places[j] = the place of the j-th true flag. `flags`: a dense vector of bools
// of which as many are true as `places` has elements.
bool select_places(const Tensor& flags, const Tensor& places);
// Each of the first n of n + 1 numbers becomes the sum of those before it, and
// the last one that of all.
bool sum_before(const Tensor& counts, int64_t n);
// counts[k] = how many numbers (int32 or int64) are k. Numbers out of range are
// not counted.
bool count_numbers(const Tensor& numbers, const Tensor& counts);

}  // namespace sy::cuda::cub
