#pragma once

#include <optional>

#include "aten/tensor.h"

namespace sy::cuda {

// places = where the largest (or smallest) elements of self lie, along `dim` or
// among all; `values` are these elements, and may be nullptr. Both have the
// sizes of a reduction. Throws IndexError that names `op` if there is no
// element to choose from.
void find_extremes(const char* op, bool max, Tensor self,
                   std::optional<int64_t> dim, Tensor* values, Tensor* places);

}  // namespace sy::cuda
