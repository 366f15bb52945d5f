#pragma once

#include <iterator>
#include <vector>

#include "backends/cpu/kernel/window_kernel.h"
#include "backends/cpu/support/images.h"
#include "c10/process/parallel.h"

// Shared by pooling kernels: where the windows of each dim lie, and how threads
// go through them.

namespace sy::cpu {

// The windows along one dim. Window i has every `dilation`-th element of
// [begin[i], end[i]).
struct WindowAxis {
  int64_t size = 1;  // of the dim
  std::vector<int64_t> begin{0}, end{1};
  // The length of each window with its padding.
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
  // About how many elements a window has.
  int64_t extent() const;
  // The window of each axis that window i consists of, in row-major order of
  // all.
  struct At {
    int64_t d, h, w;
  };
  At at(int64_t i) const {
    const int64_t width = axis[2].windows(), height = axis[1].windows();
    return {i / (width * height), i / width % height, i % width};
  }
};

// The windows of pooling the last n of `sizes` to the last n of `pooled`.
Windows pooling_windows(int64_t n, IntArrayRef sizes, IntArrayRef pooled,
                        IntArrayRef kernel_size, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef dilation);
// The windows of adaptive pooling.
Windows adaptive_windows(int64_t n, IntArrayRef sizes, IntArrayRef pooled);

// Calls f(row) for the rows of elements of window (d, h), in order. `row` is
// the number of a row in its plane.
template <class F>
void rows_of_window(const Windows& w, int64_t d, int64_t h, const F& f) {
  const WindowAxis &depth = w.axis[0], &height = w.axis[1];
  for (int64_t z = depth.first(d); z < depth.last(d); z += depth.dilation) {
    for (int64_t y = height.first(h); y < height.last(h);
         y += height.dilation) {
      f(z * height.size + y);
    }
  }
}

// Lists the elements of windows, one window after the other.
class PlacesOfWindow {
 public:
  explicit PlacesOfWindow(const Windows& w) : w_(w) {}

  // The places of window i (row-major among all), in order, until the next
  // call.
  const std::vector<int64_t>& get(int64_t i);
  // The window of the last get().
  Windows::At at() const { return at_; }

 private:
  const Windows& w_;
  Windows::At at_{-1, -1, -1};
  int64_t next_ = -1;
  std::vector<int64_t> places_;
};

// For images with channels last: calls f(image, places, at, i) for every window
// i of all images, in parallel. `at` is the window in its image.
template <class E, class F>
void for_each_window(const Images& in, const Windows& w, const F& f) {
  const int64_t count = w.count(), channels = in.channels;
  parallel_for(0, in.images * count, grain_of(channels * w.extent()),
               [&](int64_t begin, int64_t end) {
                 PlacesOfWindow windows(w);
                 int64_t image = begin / count, k = begin % count;
                 for (int64_t i = begin; i < end; ++i, ++k) {
                   if (k == count) ++image, k = 0;
                   const std::vector<int64_t>& places = windows.get(k);
                   f(in.data<E>() + image * in.places() * channels,
                     WindowPlaces{places.data(), std::ssize(places), channels},
                     windows.at(), i);
                 }
               });
}

// The number that the sum of a window is divided by.
struct MeanDivisor {
  bool with_padding = true;
  int64_t fixed = 0;  // 0: the elements are counted
};

// out = the means of the windows of the last n dims of self.
void pool_means(int64_t n, const Tensor& self, const Windows& w,
                const MeanDivisor& by, const Tensor& out);
// out = the gradient of self, from the gradient of the means.
void share_means(int64_t n, const Tensor& grad_output, const Tensor& self,
                 const Windows& w, const MeanDivisor& by, const Tensor& out);

// The dtype that kernels for channels last read elements of `dtype` as.
// visit_read() calls f.operator()<E>() for its C++ type.
ScalarType read_as(ScalarType dtype);
template <class F>
void visit_read(ScalarType dtype, const F& f) {
  switch (dtype) {
    case kHalf: return f.template operator()<Half>();
    case kBFloat16: return f.template operator()<BFloat16>();
    default: return visit_computed(dtype, f);
  }
}

}  // namespace sy::cpu
