#pragma once

#include <string_view>

#include "aten/tensor.h"

// What operators on LAPACK share.

namespace sy {

class OperatorEntry;

// Throws LinAlgError (ValueError for NaN and infinity) if an element of `info`,
// an int32 tensor of the CPU as LAPACK fills it, is not 0: what failed by the
// name of the operator, and for which matrix of the batch.
SY_API void check_linalg_info(std::string_view op, const Tensor& info);

// Whether the right side of A X = b is a vector, or one for each matrix of A.
SY_API bool is_vector_beside(const Tensor& A, const Tensor& b);

// store_result for an out= argument that takes the result's dtype only. If it
// is resized its matrices lie by columns, as ATen has them.
SY_API void store_by_columns(const OperatorEntry& op, const Tensor& result,
                             Tensor& out);

}  // namespace sy
