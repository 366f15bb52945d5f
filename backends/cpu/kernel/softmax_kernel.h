#pragma once

#include <cstdint>

// Softmax and its derivative over contiguous rows, for the instruction set of
// this machine. Sums are made of blocks, which are added in double.

namespace sy::cpu {

template <class T>
struct SoftmaxKernel {
  // y = the softmax of each of the rows of n elements, or its logarithm. y may
  // be x.
  void (*forward)(T* y, const T* x, int64_t rows, int64_t n, bool log);
  // gx from the result y and its gradient g: (g - sum(g y)) y; for the
  // logarithm g - exp(y) sum(g). gx may be g or y.
  void (*backward)(T* gx, const T* g, const T* y, int64_t rows, int64_t n,
                   bool log);
};
template <class T>
const SoftmaxKernel<T>& softmax_kernel();

}  // namespace sy::cpu
