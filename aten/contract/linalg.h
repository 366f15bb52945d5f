#pragma once

#include <string_view>

#include "aten/tensor.h"

// Shared by operators on LAPACK.

namespace sy {

class OperatorEntry;

// Throws LinAlgError (ValueError for NaN and infinity) if an element of `info`
// is not 0. `info` is an int32 tensor on the CPU that LAPACK has filled. The
// message says what failed, in terms of the operator, and for which matrix of
// the batch.
SY_API void check_linalg_info(std::string_view op, const Tensor& info);

// Whether the right side of A X = b is a vector, or a batch with one vector for
// each matrix of A.
SY_API bool is_vector_beside(const Tensor& A, const Tensor& b);

// store_result for an out= argument that takes the result's dtype only. If
// `out` is resized, its matrices are column-major, as in ATen.
SY_API void store_by_columns(const OperatorEntry& op, const Tensor& result,
                             Tensor& out);

}  // namespace sy
