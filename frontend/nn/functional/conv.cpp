#include "frontend/nn/functional/conv.h"

#include "aten/ops/convolution.h"
#include "frontend/nn/functional/if_defined.h"

namespace sy::nn::functional {

namespace detail {

template <size_t D>
Tensor Conv<D>::plain(const Tensor& input, const Tensor& weight,
                      const Tensor& bias, const ExpandingArray<D>& stride,
                      const nn::detail::ConvPadding<D>& padding,
                      const ExpandingArray<D>& dilation, int64_t groups) {
  const auto some_bias = nn::detail::if_defined(bias);
  const auto run = [&](auto pad) {
    if constexpr (D == 1) {
      return sy::conv1d(input, weight, some_bias, stride, pad, dilation,
                        groups);
    } else if constexpr (D == 2) {
      return sy::conv2d(input, weight, some_bias, stride, pad, dilation,
                        groups);
    } else {
      return sy::conv3d(input, weight, some_bias, stride, pad, dilation,
                        groups);
    }
  };
  if (padding.mode() == kSame) return run(padding.mode().name());
  return run(IntArrayRef(padding));
}

template <size_t D>
Tensor Conv<D>::transposed(const Tensor& input, const Tensor& weight,
                           const Tensor& bias, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef output_padding,
                           int64_t groups, IntArrayRef dilation) {
  const auto some_bias = nn::detail::if_defined(bias);
  if constexpr (D == 1) {
    return sy::conv_transpose1d(input, weight, some_bias, stride, padding,
                                output_padding, groups, dilation);
  } else if constexpr (D == 2) {
    return sy::conv_transpose2d(input, weight, some_bias, stride, padding,
                                output_padding, groups, dilation);
  } else {
    return sy::conv_transpose3d(input, weight, some_bias, stride, padding,
                                output_padding, groups, dilation);
  }
}

template struct Conv<1>;
template struct Conv<2>;
template struct Conv<3>;

template <size_t D>
static Tensor plain(const Tensor& input, const Tensor& weight,
                    const ConvFuncOptions<D>& o) {
  return Conv<D>::plain(input, weight, o.bias(), o.stride(), o.padding(),
                        o.dilation(), o.groups());
}

template <size_t D>
static Tensor transposed(const Tensor& input, const Tensor& weight,
                         const ConvTransposeFuncOptions<D>& o) {
  return Conv<D>::transposed(input, weight, o.bias(), o.stride(), o.padding(),
                             o.output_padding(), o.groups(), o.dilation());
}

}  // namespace detail

Tensor conv1d(const Tensor& input, const Tensor& weight,
              const Conv1dFuncOptions& options) {
  return detail::plain(input, weight, options);
}

Tensor conv2d(const Tensor& input, const Tensor& weight,
              const Conv2dFuncOptions& options) {
  return detail::plain(input, weight, options);
}

Tensor conv3d(const Tensor& input, const Tensor& weight,
              const Conv3dFuncOptions& options) {
  return detail::plain(input, weight, options);
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose1dFuncOptions& options) {
  return detail::transposed(input, weight, options);
}

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose2dFuncOptions& options) {
  return detail::transposed(input, weight, options);
}

Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose3dFuncOptions& options) {
  return detail::transposed(input, weight, options);
}

}  // namespace sy::nn::functional
