#pragma once

#include <cmath>
#include <cstdint>

#include "rois.h"

// The geometry of deform_conv2d: tap (i, j) of the kernel reads the image at a
// place that is no pixel.

namespace vision {

struct Deform {
  int64_t stride[2], pad[2], dilation[2];  // of height, width
  int64_t groups, offset_groups;
  bool use_mask;
};

// Sizes, and the numbers of one image.
struct DeformSizes {
  Batch in, out;  // out.channels: of the result
  int64_t kernel[2];
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t rows() const { return in.channels * taps(); }

  DeformSizes(const Tensor& input, const Tensor& weight, const Tensor& offset)
      : in(batch_of(input)),
        out{input.size(0), weight.size(0), offset.size(2), offset.size(3)},
        kernel{weight.size(2), weight.size(3)} {}
};

// The four pixels around a point: where they are, -1 outside of the image; the
// weight of each, and how it changes as the point goes down and right.
template <class T>
struct Corners {
  int64_t at[4];
  T weight[4], down[4], right[4];

  Corners(T y, T x, const Batch& in) {
    const T low_y = std::floor(y), low_x = std::floor(x);
    const T dy = y - low_y, dx = x - low_x;
    const bool near = y > -2 && x > -2 && y < static_cast<T>(in.height + 1) &&
                      x < static_cast<T>(in.width + 1);
    for (int i = 0; i < 4; ++i) {
      const int64_t h = near ? static_cast<int64_t>(low_y) + i / 2 : -1;
      const int64_t w = near ? static_cast<int64_t>(low_x) + i % 2 : -1;
      const bool inside = h >= 0 && h < in.height && w >= 0 && w < in.width;
      at[i] = inside ? h * in.width + w : -1;
      const T by_y = i / 2 == 0 ? 1 - dy : dy;
      const T by_x = i % 2 == 0 ? 1 - dx : dx;
      weight[i] = by_y * by_x;
      down[i] = i / 2 == 0 ? -by_x : by_x;
      right[i] = i % 2 == 0 ? -by_y : by_y;
    }
  }

  static T sum(const int64_t (&at)[4], const T (&by)[4], const T* plane) {
    T total = 0;
    for (int i = 0; i < 4; ++i) {
      if (at[i] >= 0) total += by[i] * plane[at[i]];
    }
    return total;
  }
  T value(const T* plane) const { return sum(at, weight, plane); }
  T slope_down(const T* plane) const { return sum(at, down, plane); }
  T slope_right(const T* plane) const { return sum(at, right, plane); }
};

// The offsets and the mask of one image.
template <class T>
struct Taps {
  const Deform& d;
  const DeformSizes& s;
  const T* offset;
  const T* mask;  // nullptr if there is none

  // Tap k of offset group g at place p of the result.
  Corners<T> corners(int64_t g, int64_t k, int64_t p) const {
    const int64_t plane = s.out.plane();
    const T* const o = offset + (g * s.taps() + k) * 2 * plane + p;
    const int64_t y = p / s.out.width * d.stride[0] - d.pad[0] +
                      k / s.kernel[1] * d.dilation[0];
    const int64_t x = p % s.out.width * d.stride[1] - d.pad[1] +
                      k % s.kernel[1] * d.dilation[1];
    return {static_cast<T>(y) + o[0], static_cast<T>(x) + o[plane], s.in};
  }
  T weight(int64_t g, int64_t k, int64_t p) const {
    return mask == nullptr ? T(1)
                           : mask[(g * s.taps() + k) * s.out.plane() + p];
  }
};

// The points that the taps read, as a matrix of `rows` times places: what the
// weight is multiplied with.
template <class T>
void fill_columns(const Taps<T>& taps, const T* image, T* columns) {
  const DeformSizes& s = taps.s;
  const int64_t each = s.in.channels / taps.d.offset_groups;
  const int64_t plane = s.out.plane();
  sy::parallel_for(0, taps.d.offset_groups * s.taps(), 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t gk = begin; gk < end; ++gk) {
                       const int64_t g = gk / s.taps(), k = gk % s.taps();
                       for (int64_t p = 0; p < plane; ++p) {
                         const Corners<T> at = taps.corners(g, k, p);
                         const T weight = taps.weight(g, k, p);
                         for (int64_t c = g * each; c < (g + 1) * each; ++c) {
                           columns[(c * s.taps() + k) * plane + p] =
                               weight * at.value(image + c * s.in.plane());
                         }
                       }
                     }
                   });
}

}  // namespace vision
