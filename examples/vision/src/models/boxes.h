#pragma once

#include <sy/sy.h>

#include <array>
#include <cstdint>
#include <vector>

// Boxes are rows of x1, y1, x2, y2 in pixels.

namespace vision {

using sy::Tensor;

struct ImageSize {
  int64_t height = 0, width = 0;
};

// The places where `condition` holds, as int64.
Tensor places(const Tensor& condition);

Tensor areas(const Tensor& boxes);
// The part of boxes [..., 4] within an image.
Tensor clipped(const Tensor& boxes, ImageSize image);
// The places of the boxes with both sides of at least `least`.
Tensor large_boxes(const Tensor& boxes, double least);
// Boxes of an image resized.
Tensor resized_boxes(const Tensor& boxes, ImageSize from, ImageSize to);

// nms among the boxes of each of `groups` groups, best first. group: int64.
Tensor batched_nms(const Tensor& boxes, const Tensor& scores,
                   const Tensor& group, int64_t groups, double threshold);

// What networks say of boxes: how far the centre moves and how the sides grow,
// relative to a reference.
class BoxCoder {
 public:
  explicit BoxCoder(std::array<double, 4> weights) : weights_(weights) {}

  // codes [n, 4 * k] relative to boxes [n, 4], as [n, k, 4].
  Tensor decode(const Tensor& codes, const Tensor& boxes) const;
  // The codes [n, 4] that decode to `wanted`.
  Tensor encode(const Tensor& wanted, const Tensor& boxes) const;

 private:
  std::array<double, 4> weights_;
};

}  // namespace vision
