#pragma once

#include "aten/tensor.h"

// Stable sorts for other families: a scatter that sorts its indices first adds
// in a fixed order.

namespace sy::cuda {

// Two contiguous vectors of int64.
struct SortedKeys {
  Tensor keys;    // upwards
  Tensor places;  // their places before; equal keys in their order
};

// `keys` is a contiguous vector of int64 on a device, of numbers in [0, bound):
// digits above those of the bound are not looked at. Results lie on the device;
// nothing waits.
SortedKeys sort_keys(const Tensor& keys, int64_t bound);

// Rows of `n` elements one after the other, sorted each by itself into `values`
// (contiguous, of the dtype of `rows`) and `places` (int64, in the row). NaN
// comes last, and first downwards. The results may be undefined: they are made.
void sort_rows(const Tensor& rows, int64_t n, bool descending, Tensor* values,
               Tensor* places);

}  // namespace sy::cuda
