#pragma once

#include <vector>

#include "frontend/nn/modules/weight_and_bias.h"
#include "frontend/nn/options/conv.h"

namespace sy::nn {

// The base of all convolutions: a weight of sizes (out_channels, in_channels /
// groups, kernel_size...), or (in_channels, out_channels / groups,
// kernel_size...) if transposed, and a bias of (out_channels). Both start
// uniform within 1 / sqrt(fan_in). Throws ValueError, which names the option,
// for counts below 1, for channels that the groups do not divide, and for kSame
// with a stride.
template <size_t D>
class SY_API ConvNdImpl : public detail::WeightAndBias {
 public:
  explicit ConvNdImpl(detail::ConvNdOptions<D> options);

  // Makes new parameters by the options.
  void reset();
  void reset_parameters() { init_by_fan_in(); }
  std::string extra_repr() const override;

  detail::ConvNdOptions<D> options;
};

// A convolution, in the sense of cross-correlation: (N, in_channels, sizes...)
// to (N, out_channels, sizes...), or both without N. Padding modes beyond
// kZeros pad the input first.
template <size_t D>
class SY_API ConvImpl : public ConvNdImpl<D> {
 public:
  ConvImpl(int64_t in_channels, int64_t out_channels,
           ExpandingArray<D> kernel_size)
      : ConvImpl(ConvOptions<D>(in_channels, out_channels, kernel_size)) {}
  explicit ConvImpl(const ConvOptions<D>& options);

  Tensor forward(const Tensor& input);

 private:
  // The padding of the input by the option `padding`: the last dimension first.
  std::vector<int64_t> padding_of_input() const;
};

// The gradient of a convolution with respect to its input, as a layer. Throws
// ValueError for padding modes beyond kZeros.
template <size_t D>
class SY_API ConvTransposeImpl : public ConvNdImpl<D> {
 public:
  ConvTransposeImpl(int64_t in_channels, int64_t out_channels,
                    ExpandingArray<D> kernel_size)
      : ConvTransposeImpl(
            ConvTransposeOptions<D>(in_channels, out_channels, kernel_size)) {}
  explicit ConvTransposeImpl(const ConvTransposeOptions<D>& options);

  // An output_size, of D values or as many as the result has dimensions, takes
  // the place of the option output_padding. Throws ValueError if the stride
  // cannot give it.
  Tensor forward(const Tensor& input,
                 const OptionalIntArrayRef& output_size = std::nullopt);

 private:
  std::vector<int64_t> output_padding(const Tensor& input,
                                      IntArrayRef output_size) const;
};

extern template class ConvNdImpl<1>;
extern template class ConvNdImpl<2>;
extern template class ConvNdImpl<3>;
extern template class ConvImpl<1>;
extern template class ConvImpl<2>;
extern template class ConvImpl<3>;
extern template class ConvTransposeImpl<1>;
extern template class ConvTransposeImpl<2>;
extern template class ConvTransposeImpl<3>;

class SY_API Conv1dImpl : public ConvImpl<1> {
 public:
  using ConvImpl<1>::ConvImpl;
};
SY_MODULE(Conv1d);

class SY_API Conv2dImpl : public ConvImpl<2> {
 public:
  using ConvImpl<2>::ConvImpl;
};
SY_MODULE(Conv2d);

class SY_API Conv3dImpl : public ConvImpl<3> {
 public:
  using ConvImpl<3>::ConvImpl;
};
SY_MODULE(Conv3d);

class SY_API ConvTranspose1dImpl : public ConvTransposeImpl<1> {
 public:
  using ConvTransposeImpl<1>::ConvTransposeImpl;
};
SY_MODULE(ConvTranspose1d);

class SY_API ConvTranspose2dImpl : public ConvTransposeImpl<2> {
 public:
  using ConvTransposeImpl<2>::ConvTransposeImpl;
};
SY_MODULE(ConvTranspose2d);

class SY_API ConvTranspose3dImpl : public ConvTransposeImpl<3> {
 public:
  using ConvTransposeImpl<3>::ConvTransposeImpl;
};
SY_MODULE(ConvTranspose3d);

}  // namespace sy::nn
