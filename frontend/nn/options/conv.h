#pragma once

#include <cstdint>

#include "aten/tensor.h"
#include "frontend/nn/arg.h"
#include "frontend/nn/options/enums.h"
#include "frontend/nn/options/expanding_array.h"

namespace sy::nn {

namespace detail {

using conv_padding_mode_t =
    enumtype::OneOf<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate,
                    enumtype::kCircular>;

// Values on both sides of each dimension, or how many: kValid adds none, kSame
// as many as keep the sizes.
template <size_t D>
class ConvPadding : public ExpandingArray<D> {
 public:
  using Mode =
      enumtype::OneOf<enumtype::kConstant, enumtype::kValid, enumtype::kSame>;

  using ExpandingArray<D>::ExpandingArray;
  ConvPadding(const ExpandingArray<D>& values) : ExpandingArray<D>(values) {}
  ConvPadding(enumtype::kValid word) : ExpandingArray<D>(0), mode_(word) {}
  ConvPadding(enumtype::kSame word) : ExpandingArray<D>(0), mode_(word) {}

  // kConstant if there are values.
  Mode mode() const { return mode_; }

 private:
  Mode mode_ = kConstant;
};

template <size_t D>
using conv_padding_t = ConvPadding<D>;

// The options of both kinds of modules. `padding` of a transposed one has
// values.
template <size_t D>
struct ConvNdOptions {
  using padding_t = conv_padding_t<D>;
  ConvNdOptions(int64_t in_channels, int64_t out_channels,
                ExpandingArray<D> kernel_size)
      : in_channels_(in_channels),
        out_channels_(out_channels),
        kernel_size_(kernel_size) {}

  SY_ARG(int64_t, in_channels);
  SY_ARG(int64_t, out_channels);
  SY_ARG(ExpandingArray<D>, kernel_size);
  SY_ARG(ExpandingArray<D>, stride) = 1;
  SY_ARG(padding_t, padding) = 0;
  SY_ARG(ExpandingArray<D>, dilation) = 1;
  SY_ARG(bool, transposed) = false;
  SY_ARG(ExpandingArray<D>, output_padding) = 0;
  SY_ARG(int64_t, groups) = 1;
  SY_ARG(bool, bias) = true;
  SY_ARG(conv_padding_mode_t, padding_mode) = kZeros;
};

}  // namespace detail

// Options of a convolution over D dimensions.
template <size_t D>
struct ConvOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  using padding_t = detail::conv_padding_t<D>;
  ConvOptions(int64_t in_channels, int64_t out_channels,
              ExpandingArray<D> kernel_size)
      : in_channels_(in_channels),
        out_channels_(out_channels),
        kernel_size_(kernel_size) {}

  SY_ARG(int64_t, in_channels);
  SY_ARG(int64_t, out_channels);
  SY_ARG(ExpandingArray<D>, kernel_size);
  SY_ARG(ExpandingArray<D>, stride) = 1;
  SY_ARG(padding_t, padding) = 0;
  SY_ARG(ExpandingArray<D>, dilation) = 1;
  SY_ARG(int64_t, groups) = 1;
  SY_ARG(bool, bias) = true;
  SY_ARG(padding_mode_t, padding_mode) = kZeros;
};

using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

// Options of a transposed convolution over D dimensions. kZeros is the only
// padding mode.
template <size_t D>
struct ConvTransposeOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels,
                       ExpandingArray<D> kernel_size)
      : in_channels_(in_channels),
        out_channels_(out_channels),
        kernel_size_(kernel_size) {}

  SY_ARG(int64_t, in_channels);
  SY_ARG(int64_t, out_channels);
  SY_ARG(ExpandingArray<D>, kernel_size);
  SY_ARG(ExpandingArray<D>, stride) = 1;
  SY_ARG(ExpandingArray<D>, padding) = 0;
  SY_ARG(ExpandingArray<D>, output_padding) = 0;
  SY_ARG(int64_t, groups) = 1;
  SY_ARG(bool, bias) = true;
  SY_ARG(ExpandingArray<D>, dilation) = 1;
  SY_ARG(padding_mode_t, padding_mode) = kZeros;
};

using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

template <size_t D>
struct ConvFuncOptions {
  using padding_t = nn::detail::conv_padding_t<D>;

  SY_ARG(Tensor, bias);
  SY_ARG(ExpandingArray<D>, stride) = 1;
  SY_ARG(padding_t, padding) = 0;
  SY_ARG(ExpandingArray<D>, dilation) = 1;
  SY_ARG(int64_t, groups) = 1;
};

using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

template <size_t D>
struct ConvTransposeFuncOptions {
  SY_ARG(Tensor, bias);
  SY_ARG(ExpandingArray<D>, stride) = 1;
  SY_ARG(ExpandingArray<D>, padding) = 0;
  SY_ARG(ExpandingArray<D>, output_padding) = 0;
  SY_ARG(int64_t, groups) = 1;
  SY_ARG(ExpandingArray<D>, dilation) = 1;
};

using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

}  // namespace functional
}  // namespace sy::nn
