#pragma once

#include "aten/tensor.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/device/factor_params.cuh"

// Factors of matrices by unblocked kernels: a block for each matrix.

namespace sy::cuda {

constexpr unsigned kFactorThreads = 256;

// How many matrices a batch has.
int64_t count_matrices(const Tensor& t);
// The matrices of a dense batch; one matrix may serve for all.
FactorMatrix matrix_of(const Tensor& t);
// `self`, expanded, in column-major matrices of its own.
Tensor columns_of(const Tensor& self, IntArrayRef sizes);

// The kernel of factors.cu for the dtype of `t`.
const Function& factor_kernel(const Tensor& t, const char* name);
// Throws ValueError if there are more blocks than a launch can have.
void check_fits(const char* op, int64_t blocks);

// Factors the matrices of p.a in their place; `pivots` may be undefined.
// Returns where each failed.
Tensor factor(const char* op, const char* name, const Tensor& a,
              const Tensor& pivots, FactorParams p);
// Waits for the device. Throws LinAlgError if one failed.
void check_info(const char* op, const Tensor& info);

}  // namespace sy::cuda
