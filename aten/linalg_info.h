#pragma once

#include <string_view>

#include "aten/tensor.h"

namespace sy {

// Throws ValueError if an element of `info`, an int32 tensor of the CPU as
// LAPACK fills it, is not 0: what failed by the name of the operator, and for
// which matrix of the batch.
SY_API void check_linalg_info(std::string_view op, const Tensor& info);

}  // namespace sy
