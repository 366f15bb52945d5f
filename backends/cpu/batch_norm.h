#pragma once

#include <cstdint>

// The loops of batch_norm.cpp, compiled for each instruction set. T is float or
// double; sums are in double.

namespace sy::cpu {

template <class T>
struct ChannelKernel {
  // The sum of n elements of one channel.
  double (*sum)(const T* x, int64_t n);
  double (*squares)(const T* x, int64_t n, double mean);  // sum of (x - mean)^2
  // Adds the sums of dy and of dy * (x - mean).
  void (*dots)(const T* dy, const T* x, int64_t n, double mean, double* sum,
               double* dot);
  // y = a * x + b
  void (*affine)(const T* x, int64_t n, T a, T b, T* y);
  // dx = a * dy + b * (x - mean) + c
  void (*gradient)(const T* dy, const T* x, int64_t n, T a, T b, T c, T mean,
                   T* dx);
  // The same for rows of n channels. Sums are added to those of each channel.
  void (*row_sum)(const T* x, int64_t rows, int64_t n, double* sums);
  void (*row_squares)(const T* x, int64_t rows, int64_t n, const double* means,
                      double* sums);
  void (*row_dots)(const T* dy, const T* x, int64_t rows, int64_t n,
                   const double* means, double* sums, double* dots);
  void (*row_affine)(const T* x, int64_t rows, int64_t n, const T* a,
                     const T* b, T* y);
  void (*row_gradient)(const T* dy, const T* x, int64_t rows, int64_t n,
                       const T* a, const T* b, const T* c, const T* means,
                       T* dx);
};
template <class T>
const ChannelKernel<T>& channel_kernel();

}  // namespace sy::cpu
