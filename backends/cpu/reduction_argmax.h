#pragma once

#include <optional>

#include "aten/tensor.h"

namespace sy::cpu {

// places = where the largest (or smallest) elements of self along `dim`, or of
// all, lie: NaN before all numbers, then the first of equals. Throws IndexError
// naming `op` where there is none to choose from.
void find_extremes(const char* op, bool max, const Tensor& self,
                   std::optional<int64_t> dim, const Tensor& places);

}  // namespace sy::cpu
