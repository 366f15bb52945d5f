#pragma once

#include "frontend/nn/options/conv.h"

// Convolutions: input (N, C, sizes...) or (C, sizes...) with a weight of sizes
// (out_channels, C / groups, kernel...), and transposed ones with a weight of
// sizes (C, out_channels / groups, kernel...).

namespace sy::nn::functional {

SY_API Tensor conv1d(const Tensor& input, const Tensor& weight,
                     const Conv1dFuncOptions& options = {});
SY_API Tensor conv2d(const Tensor& input, const Tensor& weight,
                     const Conv2dFuncOptions& options = {});
SY_API Tensor conv3d(const Tensor& input, const Tensor& weight,
                     const Conv3dFuncOptions& options = {});

SY_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose1dFuncOptions& options = {});
SY_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose2dFuncOptions& options = {});
SY_API Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose3dFuncOptions& options = {});

namespace detail {

template <size_t D>
struct Conv {
  static Tensor plain(const Tensor& input, const Tensor& weight,
                      const Tensor& bias, const ExpandingArray<D>& stride,
                      const nn::detail::ConvPadding<D>& padding,
                      const ExpandingArray<D>& dilation, int64_t groups);
  static Tensor transposed(const Tensor& input, const Tensor& weight,
                           const Tensor& bias, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef output_padding,
                           int64_t groups, IntArrayRef dilation);
};

}  // namespace detail
}  // namespace sy::nn::functional
