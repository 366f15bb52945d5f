#pragma once

#include "aten/tensor.h"

namespace sy {

// How many elements `range` has, `end` included. An error if the bounds are
// not finite, if `step` is 0 or leads away from `end`, or if `out` is bool.
int64_t range_size(const Scalar& start, const Scalar& end, const Scalar& step,
                   const Tensor& out);

namespace composite {

// `steps` numbers in double from both ends, so that the last is b; the first
// `head` are counted from a. On the device of out.
Tensor numbers_between(double a, double b, int64_t steps, int64_t head,
                       const Tensor& out);

// Stores the numbers in out. If out holds whole numbers, fractions are cut, not
// rounded.
void store_numbers(const Tensor& numbers, Tensor& out);

}  // namespace composite
}  // namespace sy
