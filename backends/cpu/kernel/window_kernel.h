#pragma once

#include <cstdint>

#include "backends/cpu/support/dtype_switch.h"
#include "c10/half.h"

// Windows of images whose channels are side by side, a window at a time,
// compiled for each instruction set. Elements of 16 bits are computed as
// floats and rounded once.

namespace sy::cpu {

// The elements of a window: places of an image that has `channels` at each.
struct WindowPlaces {
  const int64_t* at;
  int64_t count, channels;
};

template <class E>
struct WindowKernels {
  using T = typename Accumulate<E>::type;
  // to[c] = the sum of channel c by the divisor. Sums of integers wrap.
  void (*mean)(const E* image, const WindowPlaces& p, T divisor, E* to);
  // to[c] = the largest: NaN is. Of no elements the least that E has.
  void (*largest)(const E* image, const WindowPlaces& p, E* to);
  // And its place in at[c], `start` if no element is larger than the least. Of
  // equals the first, of NaNs the last is taken.
  void (*largest_at)(const E* image, const WindowPlaces& p, int64_t start,
                     E* to, int64_t* at);
  // Adds from[c] by the divisor to channel c of each place.
  void (*share)(E* image, const WindowPlaces& p, T divisor, const T* from);
};

// float, double, int64_t, Half and BFloat16; those of 16 bits do not share.
template <class E>
const WindowKernels<E>& window_kernels();

}  // namespace sy::cpu
