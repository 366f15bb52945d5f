#pragma once

#include <cstdint>

#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/lapack/api.h"

// Products of large matrices of double by OpenBLAS, which
// libswitchyard_lapack.so brings.

namespace sy::cpu {

// OpenBLAS is faster than gemm() from so many rows of a, columns of b and terms
// on: b no longer fits into the second cache.
constexpr int64_t kBlasRows = 8;
constexpr int64_t kBlasCols = 512;
constexpr int64_t kBlasTerms = 384;

// BLAS counts in 32 bits: whether g's sizes and strides fit.
bool fits_blas(const Gemm<double>& g);

// Computes gemm(g) for a g that fits. The rows or the columns of each matrix
// lie close together and do not overlap; alpha is not 0, with which BLAS would
// not read a and b. Uses get_num_threads() threads, on which the last bits of
// the result may depend. Waits while another thread is in LAPACK with several
// threads. Throws nothing.
void gemm_by_blas(const LapackApi& api, const Gemm<double>& g);

}  // namespace sy::cpu
