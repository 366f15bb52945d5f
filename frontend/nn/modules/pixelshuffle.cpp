#include "frontend/nn/modules/pixelshuffle.h"

#include "frontend/nn/functional/pixelshuffle.h"

namespace sy::nn {

Tensor PixelShuffleImpl::forward(const Tensor& input) {
  return functional::pixel_shuffle(input, options);
}

std::string PixelShuffleImpl::extra_repr() const {
  return str("upscale_factor={}", options.upscale_factor());
}

Tensor PixelUnshuffleImpl::forward(const Tensor& input) {
  return functional::pixel_unshuffle(input, options);
}

std::string PixelUnshuffleImpl::extra_repr() const {
  return str("downscale_factor={}", options.downscale_factor());
}

Tensor ChannelShuffleImpl::forward(const Tensor& input) {
  return functional::channel_shuffle(input, options);
}

std::string ChannelShuffleImpl::extra_repr() const {
  return str("groups={}", options.groups());
}

}  // namespace sy::nn
