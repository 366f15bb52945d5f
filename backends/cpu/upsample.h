#pragma once

#include <optional>

#include "aten/tensor.h"
#include "backends/cpu/resize.h"

// Images of n dims of places at another size; scales[i] is that of dim i.

namespace sy::cpu {

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

void resize_images(const ResizeRequest& r, const Tensor& self,
                   const Tensor& out);
// The gradient of the images before from that of the images after.
void resize_images_backward(const ResizeRequest& r, const Tensor& grad_output,
                            const Tensor& out);
// The same for uint8, whose rows and then columns are rounded.
void resize_bytes(const ResizeRequest& r, const Tensor& self,
                  const Tensor& out);

}  // namespace sy::cpu
