#pragma once

#include "backends/cpu/support/lapack.h"

// LU factors of matrices, for kernels that solve with them.
namespace sy::cpu {

// Whether the transpose is factored. The rows of a contiguous matrix are the
// columns of its transpose, which is what LAPACK reads.
inline bool by_transpose(const Tensor& A) { return A.is_contiguous(); }

// Factors A, or its transpose. `pivots` and `info` are contiguous.
Matrices factored(const char* op, const LapackApi& api, const Tensor& A,
                  int32_t* pivots, int32_t* info);

}  // namespace sy::cpu
