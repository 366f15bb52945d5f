#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/pixelshuffle.h"

namespace sy::nn::functional {

// (..., C * r^2, H, W) to (..., C, H * r, W * r).
SY_API Tensor pixel_shuffle(const Tensor& input,
                            const PixelShuffleFuncOptions& options);
// (..., C, H * r, W * r) to (..., C * r^2, H, W).
SY_API Tensor pixel_unshuffle(const Tensor& input,
                              const PixelUnshuffleFuncOptions& options);
// Channel i of group g becomes channel i * groups + g.
SY_API Tensor channel_shuffle(const Tensor& input,
                              const ChannelShuffleFuncOptions& options);

}  // namespace sy::nn::functional
