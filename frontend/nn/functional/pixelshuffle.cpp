#include "frontend/nn/functional/pixelshuffle.h"

#include "aten/ops/image.h"

namespace sy::nn::functional {

Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& o) {
  return sy::pixel_shuffle(input, o.upscale_factor());
}

Tensor pixel_unshuffle(const Tensor& input,
                       const PixelUnshuffleFuncOptions& o) {
  return sy::pixel_unshuffle(input, o.downscale_factor());
}

Tensor channel_shuffle(const Tensor& input,
                       const ChannelShuffleFuncOptions& o) {
  return sy::channel_shuffle(input, o.groups());
}

}  // namespace sy::nn::functional
