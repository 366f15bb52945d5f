#pragma once

#include <cstdint>

// The loops of normalizations over rows of n elements, for the instruction set
// of this machine. Sums are made of blocks, which are added in double.

namespace sy::cpu {

template <class T>
struct NormKernel {
  double (*sum)(const T* x, int64_t n);
  // The sum of (x - center)^2.
  double (*squares)(const T* x, T center, int64_t n);
  // y = (x - mean) * rstd * w + b. w = nullptr means 1, b = nullptr means 0. y
  // may be x.
  void (*apply)(T* y, const T* x, T mean, T rstd, const T* w, const T* b,
                int64_t n);
  // y = (x - mean) * scale + shift.
  void (*scale)(T* y, const T* x, T mean, T scale, T shift, int64_t n);
  // The sums of g = dy * w, and of g * (x - mean).
  void (*sums)(const T* dy, const T* x, T mean, const T* w, int64_t n,
               double out[2]);
  // dx = dy * w * a + (x - mean) * b + c.
  void (*grad)(T* dx, const T* dy, const T* x, const T* w, T mean, T a, T b,
               T c, int64_t n);
  // dw += dy * (x - mean) * rstd, db += dy; either may be nullptr.
  void (*params)(T* dw, T* db, const T* dy, const T* x, T mean, T rstd,
                 int64_t n);
};
template <class T>
const NormKernel<T>& norm_kernel();

}  // namespace sy::cpu
