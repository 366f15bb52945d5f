#pragma once

#include <sy/sy.h>

// Pictures, uint8 [3, height, width], made ready for a model as torchvision's
// presets do it.

namespace vision {

using sy::Tensor;

// So large that the short side is `side`, without jagged edges.
Tensor resized_picture(const Tensor& picture, int64_t side);
// The middle of a picture; black is added where it is smaller.
Tensor center_crop(const Tensor& picture, int64_t side);
// Numbers from 0 to 1, float32.
Tensor as_floats(const Tensor& picture);
// The same with the mean and the deviation of ImageNet's pictures removed.
Tensor normalised(const Tensor& picture);

}  // namespace vision
