#pragma once

#include <cstdint>

#include "backends/cpu/tiles/kernels.h"

// Matrix products of float or double in memory at any strides. gemm_kernel.cpp
// has them for each instruction set; gemm.cpp runs large ones in parallel.

namespace sy::cpu {

// c = alpha * a b + beta * c or, with a bias, c = alpha * a b + bias[j] in
// column j. All strides are in elements; rows of c are contiguous. With beta 0,
// c is not read. c must not overlap the others.
template <class T>
struct Gemm {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_col;
  const T* b;
  int64_t b_row, b_col;
  T* c;
  int64_t c_row;
  T alpha = 1;
  T beta = 0;
  const T* bias = nullptr;
};

// Throws only OutOfMemoryError. Results do not depend on the number of threads.
void gemm(const Gemm<float>& g);
void gemm(const Gemm<double>& g);

// out[i] = alpha * (row i of a matrix times a vector) + beta * out[i] or, with
// a bias, + bias[i] instead. The rows and the vector are contiguous.
template <class T>
struct Dots {
  int64_t rows, k;
  const void* matrix;
  int64_t row_stride;  // all strides in elements
  const T* vector;
  T* out;
  int64_t out_stride;
  T alpha, beta;
  const T* bias;
  int64_t bias_stride;
};
// The matrix has the dtype kFloat, kHalf or kBFloat16. Runs in parallel.
void gemm_dots(ScalarType dtype, const Dots<float>& d);

namespace detail {

// The kernels of an instruction set. run() does a whole product with contiguous
// rows of b (b_col == 1).
template <class T>
struct GemmKernel {
  void (*run)(const Gemm<T>& g);
  // For contiguous rows of a and contiguous columns of b.
  void (*run_by_dots)(const Gemm<T>& g);
  void (*dots)(const Dots<T>& d);
  // For matrices of Half and of BFloat16; nullptr if T is double.
  void (*half_dots)(const Dots<T>& d);
  void (*bfloat16_dots)(const Dots<T>& d);
  int64_t panel;  // columns that the kernel takes at a time
  int64_t rows;   // rows that it takes at a time
};
template <class T>
const GemmKernel<T>& gemm_kernel();

}  // namespace detail

}  // namespace sy::cpu
