#pragma once

#include <sy/sy.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace vision {

using sy::Tensor;
using Colour = std::array<uint8_t, 3>;

// One of 21 colours, for classes; others have those again. 0 is black.
Colour colour_of(int64_t label);

// The colours of classes [height, width], int64 on any device.
Tensor coloured(const Tensor& classes);

// A picture to draw on. What lies outside of it is not drawn.
class Canvas {
 public:
  // Copies uint8 [3, height, width].
  explicit Canvas(const Tensor& picture);

  // Mixes the colour with the pixels where mask [height, width] is over 0.5.
  void mask(const Tensor& mask, Colour colour);
  // The frame of a box, `thick` pixels.
  void frame(int64_t x1, int64_t y1, int64_t x2, int64_t y2, Colour colour,
             int64_t thick = 2);
  // Capitals, digits and a few signs, on a ground of the colour. Returns the
  // width.
  int64_t text(int64_t x, int64_t y, std::string_view text, Colour colour);

  const Tensor& picture() const { return picture_; }

 private:
  void fill(int64_t x1, int64_t y1, int64_t x2, int64_t y2, Colour colour);

  Tensor picture_;
  int64_t height_, width_;
  uint8_t* pixels_;
};

}  // namespace vision
