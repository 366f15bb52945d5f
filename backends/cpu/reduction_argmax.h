#pragma once

#include <optional>

#include "aten/tensor.h"

namespace sy::cpu {

// places = where the largest (or smallest) elements of self lie, along `dim` or
// among all. NaN comes before all numbers; the first of equal elements is
// taken. Throws IndexError that names `op` if there is no element to choose
// from.
void find_extremes(const char* op, bool max, const Tensor& self,
                   std::optional<int64_t> dim, const Tensor& places);

}  // namespace sy::cpu
