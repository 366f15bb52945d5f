#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "c10/macros.h"

// Which elements of a dim each element of the resized dim is made of, and with
// which weights.

namespace sy {

enum class Resize {
  Nearest,       // the place rounded down
  NearestExact,  // the nearest place
  Linear,
  Cubic,
  LinearAA,  // AA: the support grows as images shrink
  CubicAA,
  LanczosAA,
};

template <class T>
struct ResizeAxis {
  using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  int64_t size = 1, count = 1;  // elements before and after
  int64_t taps = 1;             // of an element, the most there are
  // Tap k of element i at [k * count + i]; index -1 is no tap.
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

// float or double; sizes are positive. `scale` is how many times larger the
// result is, if it is given and positive; else the sizes say it.
template <class T>
SY_API ResizeAxis<T> resize_axis(Resize mode, int64_t size, int64_t count,
                                 bool align_corners,
                                 std::optional<double> scale);

// Images of n dims of places at another size; scales[i] is that of dim i.
struct ResizeRequest {
  Resize mode;
  int64_t n;
  bool align_corners = false;
  std::optional<double> scales[3];

  // Of axis k of depth, height and width.
  template <class T>
  ResizeAxis<T> axis(int64_t k, int64_t size, int64_t count) const {
    std::optional<double> scale = scales[k - (3 - n)];
    // The nearest places of images of the same or twice the size are those of
    // the sizes, whatever the scale, as in PyTorch.
    if (mode == Resize::Nearest && n == 2 &&
        (count == size || count == 2 * size)) {
      scale.reset();
    }
    return resize_axis<T>(mode, size, count, align_corners, scale);
  }
};

}  // namespace sy
