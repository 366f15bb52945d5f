#pragma once

#include "aten/contract/resize_axis.h"
#include "aten/tensor.h"
#include "backends/cpu/kernel/row_kernel.h"

// Resizes images.

namespace sy::cpu {

void resize_images(const ResizeRequest& r, const Tensor& self,
                   const Tensor& out);
// out = the gradient of the images before resizing, from that after resizing.
void resize_images_backward(const ResizeRequest& r, const Tensor& grad_output,
                            const Tensor& out);
// resize_images for uint8. Rounds after resizing the rows, and again after the
// columns.
void resize_bytes(const ResizeRequest& r, const Tensor& self,
                  const Tensor& out);

}  // namespace sy::cpu
