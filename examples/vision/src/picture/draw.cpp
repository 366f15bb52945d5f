#include "picture/draw.h"

#include <algorithm>
#include <cctype>

#include "picture/font.h"

namespace vision {
namespace {

constexpr int64_t kColours = 21;

}  // namespace

Colour colour_of(int64_t label) {
  constexpr int64_t kSteps[] = {(1 << 25) - 1, (1 << 15) - 1, (1 << 21) - 1};
  const int64_t i = (label % kColours + kColours) % kColours;
  Colour c;
  for (size_t k = 0; k < 3; ++k) {
    c[k] = static_cast<uint8_t>(i * kSteps[k] % 255);
  }
  return c;
}

Tensor coloured(const Tensor& classes) {
  const Tensor table = sy::empty({3, kColours}, sy::TensorOptions(sy::kByte));
  auto* const to = static_cast<uint8_t*>(table.data_ptr());
  for (int64_t i = 0; i < kColours; ++i) {
    for (int64_t k = 0; k < 3; ++k) {
      to[k * kColours + i] = colour_of(i)[static_cast<size_t>(k)];
    }
  }
  return table.index_select(1, classes.cpu().remainder(kColours).flatten())
      .view({3, classes.size(0), classes.size(1)});
}

Canvas::Canvas(const Tensor& picture)
    : picture_(picture.cpu().contiguous().clone()),
      height_(picture.size(1)),
      width_(picture.size(2)),
      pixels_(static_cast<uint8_t*>(picture_.data_ptr())) {}

void Canvas::mask(const Tensor& mask, Colour colour) {
  const Tensor on = mask.gt(0.5).cpu().contiguous();
  const auto* const at = static_cast<const bool*>(on.data_ptr());
  const int64_t n = height_ * width_;
  for (int64_t i = 0; i < n; ++i) {
    if (!at[i]) continue;
    for (int64_t k = 0; k < 3; ++k) {
      uint8_t& pixel = pixels_[k * n + i];
      pixel =
          static_cast<uint8_t>((pixel + colour[static_cast<size_t>(k)]) / 2);
    }
  }
}

void Canvas::fill(int64_t x1, int64_t y1, int64_t x2, int64_t y2,
                  Colour colour) {
  x1 = std::clamp<int64_t>(x1, 0, width_);
  x2 = std::clamp<int64_t>(x2, 0, width_);
  y2 = std::clamp<int64_t>(y2, 0, height_);
  for (int64_t y = std::max<int64_t>(y1, 0); y < y2; ++y) {
    for (int64_t k = 0; k < 3; ++k) {
      uint8_t* const row = pixels_ + (k * height_ + y) * width_;
      std::fill(row + x1, row + std::max(x1, x2),
                colour[static_cast<size_t>(k)]);
    }
  }
}

void Canvas::frame(int64_t x1, int64_t y1, int64_t x2, int64_t y2,
                   Colour colour, int64_t thick) {
  fill(x1, y1, x2, y1 + thick, colour);
  fill(x1, y2 - thick, x2, y2, colour);
  fill(x1, y1, x1 + thick, y2, colour);
  fill(x2 - thick, y1, x2, y2, colour);
}

int64_t Canvas::text(int64_t x, int64_t y, std::string_view text,
                     Colour colour) {
  constexpr int64_t kDot = 2;  // pixels of a dot of the font
  const int64_t width =
      (static_cast<int64_t>(text.size()) * (kGlyphWidth + 1) + 1) * kDot;
  fill(x, y, x + width, y + (kGlyphHeight + 2) * kDot, colour);
  const bool dark = 2 * colour[0] + 5 * colour[1] + colour[2] > 8 * 128;
  const Colour ink = dark ? Colour{0, 0, 0} : Colour{255, 255, 255};
  x += kDot;
  for (const char c : text) {
    for (int64_t row = 0; row < kGlyphHeight; ++row) {
      for (int64_t column = 0; column < kGlyphWidth; ++column) {
        if (!has_dot(c, row, column)) continue;
        const int64_t left = x + column * kDot, top = y + (row + 1) * kDot;
        fill(left, top, left + kDot, top + kDot, ink);
      }
    }
    x += (kGlyphWidth + 1) * kDot;
  }
  return width;
}

}  // namespace vision
