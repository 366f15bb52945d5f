#pragma once

#include "backends/cpu/support/lapack.h"

// Factors of matrices, for kernels that solve by them.
namespace sy::cpu {

// Whether the factors are those of the transpose, which of a contiguous matrix
// is by columns what it is by rows.
inline bool by_transpose(const Tensor& A) { return A.is_contiguous(); }

// The factors of A, or of its transpose; `pivots` and `info` are contiguous.
Matrices factored(const char* op, const LapackApi& api, const Tensor& A,
                  int32_t* pivots, int32_t* info);

}  // namespace sy::cpu
