#pragma once

#include <cstdint>

#include "backends/cpu/program/kernels.h"

// Products of matrices of float or double in memory at any strides, for one
// instruction set each (gemm_kernel.cpp), in parallel for large ones
// (gemm.cpp).

namespace sy::cpu {

// c = alpha * a b + beta * c, or + bias[j] in column j where there is one. All
// strides in elements; columns of c lie close together. With beta 0, c is not
// read. No overlap of c with the others.
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

// Throws nothing but OutOfMemoryError. Results do not depend on the number of
// threads.
void gemm(const Gemm<float>& g);
void gemm(const Gemm<double>& g);

// out[i] = alpha * (row i of a matrix times a vector) + beta * out[i], or +
// bias[i]; rows and the vector lie close together.
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
// The matrix is of `dtype`: kFloat, kHalf or kBFloat16. In parallel.
void gemm_dots(ScalarType dtype, const Dots<float>& d);

namespace detail {

// What an instruction set offers: a whole product with b in rows close together
// (b_col == 1), and the width of panels that suits it.
template <class T>
struct GemmKernel {
  void (*run)(const Gemm<T>& g);
  // Where rows of a and columns of b lie close together.
  void (*run_by_dots)(const Gemm<T>& g);
  void (*dots)(const Dots<T>& d);
  // Of Half and of BFloat16; nullptr where T is double.
  void (*half_dots)(const Dots<T>& d);
  void (*bfloat16_dots)(const Dots<T>& d);
  int64_t panel;  // columns that the kernel takes at a time
  int64_t rows;   // and rows
};
template <class T>
const GemmKernel<T>& gemm_kernel();

}  // namespace detail

}  // namespace sy::cpu
