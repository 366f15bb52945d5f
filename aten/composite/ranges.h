#pragma once

#include "aten/tensor.h"

namespace sy {

// How many elements `range` has, `end` included. An error if the bounds are
// not finite, if `step` is 0 or leads away from `end`, or if `out` is bool.
int64_t range_size(const Scalar& start, const Scalar& end, const Scalar& step,
                   const Tensor& out);

}  // namespace sy
