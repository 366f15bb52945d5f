#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "c10/macros.h"

// The elements of the source that each element of a resized dim is made of, and
// their weights.

namespace sy {

enum class Resize {
  Nearest,       // rounds the place in the source down
  NearestExact,  // takes the nearest place in the source
  Linear,
  Cubic,
  LinearAA,  // AA: antialiased, the support grows as images shrink
  CubicAA,
  LanczosAA,
};

template <class T>
struct ResizeAxis {
  using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  int64_t size = 1, count = 1;  // elements before and after
  int64_t taps = 1;             // the largest number of taps of an element
  // Tap k of element i is at [k * count + i]; index -1: there is no such tap.
  std::vector<Index> at{0};
  std::vector<T> weight{1};

  bool trivial() const { return size == 1 && count == 1; }
  Index index(int64_t k, int64_t i) const {
    return at[static_cast<size_t>(k * count + i)];
  }
  T weight_of(int64_t k, int64_t i) const {
    return weight[static_cast<size_t>(k * count + i)];
  }
};

// T is float or double; sizes are positive. A positive `scale` says how many
// times larger the result is; without it the sizes do.
template <class T>
SY_API ResizeAxis<T> resize_axis(Resize mode, int64_t size, int64_t count,
                                 bool align_corners,
                                 std::optional<double> scale);

// Resizes images with n spatial dims; scales[i] belongs to spatial dim i.
struct ResizeRequest {
  Resize mode;
  int64_t n;
  bool align_corners = false;
  std::optional<double> scales[3];

  // The taps along axis k of (depth, height, width).
  template <class T>
  ResizeAxis<T> axis(int64_t k, int64_t size, int64_t count) const {
    std::optional<double> scale = scales[k - (3 - n)];
    // PyTorch finds the nearest places from the sizes, whatever the scale, if
    // images keep or double their size.
    if (mode == Resize::Nearest && n == 2 &&
        (count == size || count == 2 * size)) {
      scale.reset();
    }
    return resize_axis<T>(mode, size, count, align_corners, scale);
  }
};

}  // namespace sy
