#pragma once

#include <vector>

#include "backends/cpu/images.h"

// What pooling kernels share: where the windows of each dim lie.

namespace sy::cpu {

// The windows along one dim: [begin, end) of the elements, every `dilation`.
struct WindowAxis {
  int64_t size = 1;  // of the dim
  std::vector<int64_t> begin{0}, end{1};
  // Elements of a window, those of the padding with it.
  std::vector<int64_t> padded{1};
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool regular = true;  // the four numbers above say where they lie

  int64_t windows() const { return static_cast<int64_t>(begin.size()); }
  int64_t first(int64_t i) const { return begin[static_cast<size_t>(i)]; }
  int64_t last(int64_t i) const { return end[static_cast<size_t>(i)]; }
};

struct Windows {
  WindowAxis axis[3];  // depth, height, width

  int64_t count() const {
    return axis[0].windows() * axis[1].windows() * axis[2].windows();
  }
  // About how many elements one has.
  int64_t extent() const;
  // The number of the window of each axis that i is in a row of them all.
  struct At {
    int64_t d, h, w;
  };
  At at(int64_t i) const {
    const int64_t width = axis[2].windows(), height = axis[1].windows();
    return {i / (width * height), i / width % height, i % width};
  }
};

// Of pooling n dims, the last of `sizes`, to the last n of `pooled`.
Windows pooling_windows(int64_t n, IntArrayRef sizes, IntArrayRef pooled,
                        IntArrayRef kernel_size, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef dilation);
// Of adaptive pooling.
Windows adaptive_windows(int64_t n, IntArrayRef sizes, IntArrayRef pooled);

}  // namespace sy::cpu
