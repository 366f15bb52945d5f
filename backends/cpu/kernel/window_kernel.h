#pragma once

#include <cstdint>

#include "backends/cpu/support/dtype_switch.h"
#include "c10/tensor/half.h"

// Windows of images with channels last, a window at a time, compiled for each
// instruction set. 16-bit elements are computed as floats and rounded once.

namespace sy::cpu {

// The elements of a window: places in an image with `channels` elements each.
struct WindowPlaces {
  const int64_t* at;
  int64_t count, channels;
};

template <class E>
struct WindowKernels {
  using T = typename Accumulate<E>::type;
  // to[c] = the sum of channel c divided by `divisor`. Sums of integers wrap.
  void (*mean)(const E* image, const WindowPlaces& p, T divisor, E* to);
  // to[c] = the largest element of channel c. NaN is the largest. Without
  // elements it is the lowest value of E.
  void (*largest)(const E* image, const WindowPlaces& p, E* to);
  // Also sets at[c] to its place; `start` if no element is larger than the
  // lowest value. The first of equal elements is taken, the last of NaNs.
  void (*largest_at)(const E* image, const WindowPlaces& p, int64_t start,
                     E* to, int64_t* at);
  // Adds from[c] divided by `divisor` to channel c of each place.
  void (*share)(E* image, const WindowPlaces& p, T divisor, const T* from);
};

// E is float, double, int64_t, Half or BFloat16. The 16-bit types have no
// share().
template <class E>
const WindowKernels<E>& window_kernels();

}  // namespace sy::cpu
