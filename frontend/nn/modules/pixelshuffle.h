#pragma once

#include "frontend/nn/module.h"
#include "frontend/nn/options/pixelshuffle.h"

namespace sy::nn {

// (..., C * r^2, H, W) to (..., C, H * r, W * r).
class SY_API PixelShuffleImpl : public Module {
 public:
  explicit PixelShuffleImpl(const PixelShuffleOptions& options)
      : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  PixelShuffleOptions options;
};
SY_MODULE(PixelShuffle);

// (..., C, H * r, W * r) to (..., C * r^2, H, W).
class SY_API PixelUnshuffleImpl : public Module {
 public:
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& options)
      : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  PixelUnshuffleOptions options;
};
SY_MODULE(PixelUnshuffle);

// Channel i of group g becomes channel i * groups + g.
class SY_API ChannelShuffleImpl : public Module {
 public:
  explicit ChannelShuffleImpl(const ChannelShuffleOptions& options)
      : options(options) {}

  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  ChannelShuffleOptions options;
};
SY_MODULE(ChannelShuffle);

}  // namespace sy::nn
