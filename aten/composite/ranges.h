#pragma once

#include "aten/tensor.h"

namespace sy {

// The number of elements of `range`, which includes `end`. Throws ValueError if
// the bounds are not finite, or if `step` is 0 or leads away from `end`;
// TypeError if `out` is bool.
SY_API int64_t range_size(const Scalar& start, const Scalar& end,
                          const Scalar& step, const Tensor& out);

// The number of elements of `arange`, which ends before `end`. Throws as
// `range_size` does.
SY_API int64_t arange_size(const Scalar& start, const Scalar& end,
                           const Scalar& step, const Tensor& out);

namespace composite {

// `steps` numbers from a to b in float64, on the device of out. The first
// `head` numbers are counted from a, the others from b, so that the last one is
// exactly b.
Tensor numbers_between(double a, double b, int64_t steps, int64_t head,
                       const Tensor& out);

// Stores the numbers in out. If out holds whole numbers, fractions are cut, not
// rounded.
void store_numbers(const Tensor& numbers, Tensor& out);

}  // namespace composite
}  // namespace sy
