#pragma once

#include "aten/contract/resize_axis.h"
#include "aten/tensor.h"
#include "backends/cpu/kernel/row_kernel.h"

// Images at another size.

namespace sy::cpu {

void resize_images(const ResizeRequest& r, const Tensor& self,
                   const Tensor& out);
// The gradient of the images before from that of the images after.
void resize_images_backward(const ResizeRequest& r, const Tensor& grad_output,
                            const Tensor& out);
// The same for uint8, whose rows and then columns are rounded.
void resize_bytes(const ResizeRequest& r, const Tensor& self,
                  const Tensor& out);

}  // namespace sy::cpu
