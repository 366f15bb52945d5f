#pragma once

#include <cstdint>

// Kernels that are a function of numbers in a plain loop, for primitives that
// vectors do not help. T is the elements' type, Wide the function's.

namespace sy::tiles {

template <class T, class Wide, Wide (*kFunction)(Wide)>
void unary_loop(void* dst, const void* a, const void*, const void*,
                uint32_t uniform_mask, int64_t n) {
  const auto f = [](T x) {
    return static_cast<T>(kFunction(static_cast<Wide>(x)));
  };
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  if (n <= 0) return;
  if (uniform_mask & 1) {
    const T y = f(x[0]);
    for (int64_t i = 0; i < n; ++i) d[i] = y;
  } else {
    for (int64_t i = 0; i < n; ++i) d[i] = f(x[i]);
  }
}

template <class T, class Wide, Wide (*kFunction)(Wide, Wide)>
void binary_loop(void* dst, const void* a, const void* b, const void*,
                 uint32_t uniform_mask, int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  if (n <= 0) return;
  const T x0 = x[0];  // dst may be a uniform operand
  const T y0 = y[0];
  for (int64_t i = 0; i < n; ++i) {
    const T p = (uniform_mask & 1) ? x0 : x[i];
    const T q = (uniform_mask & 2) ? y0 : y[i];
    d[i] =
        static_cast<T>(kFunction(static_cast<Wide>(p), static_cast<Wide>(q)));
  }
}

}  // namespace sy::tiles
