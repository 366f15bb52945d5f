#pragma once

#include "frontend/nn/modules/weight_and_bias.h"
#include "frontend/nn/options/normalization.h"

namespace sy::nn {

// The input minus the mean and divided by the standard deviation over the last
// dimensions, those of normalized_shape; then, if elementwise_affine, times
// weight (ones) and, with the option bias, plus bias (zeros), which have that
// shape. Throws ValueError for an empty shape.
class SY_API LayerNormImpl : public detail::WeightAndBias {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options);

  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  LayerNormOptions options;
};
SY_MODULE(LayerNorm);

// input / sqrt(mean(input^2) + eps) over the last dimensions, those of
// normalized_shape; then, if elementwise_affine, times weight (ones). Throws
// ValueError for an empty shape.
class SY_API RMSNormImpl : public Module {
 public:
  RMSNormImpl(std::vector<int64_t> normalized_shape)
      : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}
  explicit RMSNormImpl(RMSNormOptions options);

  void reset_parameters();
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  RMSNormOptions options;
  Parameter weight;
};
SY_MODULE(RMSNorm);

// As LayerNorm over groups of channels, dimension 1, and all that follows;
// weight and bias have one value per channel. Throws ValueError if the groups
// do not divide the channels.
class SY_API GroupNormImpl : public detail::WeightAndBias {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels)
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options);

  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  GroupNormOptions options;
};
SY_MODULE(GroupNorm);

// input / (k + alpha * mean of the squares of `size` neighbouring
// channels)^beta.
class SY_API LocalResponseNormImpl : public Module {
 public:
  LocalResponseNormImpl(int64_t size)
      : LocalResponseNormImpl(LocalResponseNormOptions(size)) {}
  explicit LocalResponseNormImpl(const LocalResponseNormOptions& options)
      : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  LocalResponseNormOptions options;
};
SY_MODULE(LocalResponseNorm);

// input / (k + alpha / size * sum of the squares of neighbouring channels)^beta
// over (N, C, H, W). Neighbours are at most (size - 1) / 2 channels away. As in
// PyTorch, the first channel stays in the sum of all channels after it. The
// gradient is that of this formula; PyTorch's differs from it. Throws
// ValueError for other numbers of dimensions and sizes below 1.
class SY_API CrossMapLRN2dImpl : public Module {
 public:
  CrossMapLRN2dImpl(int64_t size)
      : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}
  explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options)
      : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  CrossMapLRN2dOptions options;
};
SY_MODULE(CrossMapLRN2d);

}  // namespace sy::nn
