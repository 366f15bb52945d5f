#pragma once

#include "frontend/nn/modules/batchnorm.h"
#include "frontend/nn/modules/conv.h"
#include "frontend/nn/modules/instancenorm.h"
#include "frontend/nn/modules/linear.h"

namespace sy::nn {

namespace detail {

// How many channels an input has for a layer, and a weight in a state dict; how
// a layer's options say it.
template <class Base>
struct Lazy;

}  // namespace detail

// A layer that learns the number of its input channels from its first input, or
// from the state dict that it loads. Until then its parameters have sizes that
// mean nothing. They stay the same tensors, so an optimizer may hold them
// before. The number of channels in its options does not matter: use 0.
template <class Base>
class SY_API LazyImpl : public Base {
 public:
  using Options = typename detail::Lazy<Base>::Options;

  explicit LazyImpl(const Options& options);
  // Whether the first input, or a state dict, is still to come.
  bool has_uninitialized_params() const { return !ready_; }
  // Makes the parameters for inputs of so many channels.
  void initialize_parameters(int64_t channels);

  Tensor forward(const Tensor& input);

 private:
  Options wanted_;
  bool ready_ = false;
};

namespace detail {

template <>
struct Lazy<LinearImpl> {
  using Options = LinearOptions;
};
template <size_t D>
struct Lazy<ConvImpl<D>> {
  using Options = ConvOptions<D>;
};
template <size_t D>
struct Lazy<ConvTransposeImpl<D>> {
  using Options = ConvTransposeOptions<D>;
};
template <size_t D>
struct Lazy<BatchNormImplBase<D>> {
  using Options = BatchNormOptions;
};
template <size_t D>
struct Lazy<InstanceNormImpl<D>> {
  using Options = InstanceNormOptions;
};

}  // namespace detail

class SY_API LazyLinearImpl : public LazyImpl<LinearImpl> {
 public:
  using LazyImpl::LazyImpl;
  explicit LazyLinearImpl(int64_t out_features)
      : LazyImpl(LinearOptions(0, out_features)) {}
};
SY_MODULE(LazyLinear);

#define SY_LAZY_CONV(Name, Base, D)                                   \
  class SY_API Name##Impl : public LazyImpl<Base##Impl<D>> {          \
   public:                                                            \
    using LazyImpl<Base##Impl<D>>::LazyImpl;                          \
    Name##Impl(int64_t out_channels, ExpandingArray<D> kernel_size)   \
        : LazyImpl(Base##Options<D>(0, out_channels, kernel_size)) {} \
  };                                                                  \
  SY_MODULE(Name)
SY_LAZY_CONV(LazyConv1d, Conv, 1);
SY_LAZY_CONV(LazyConv2d, Conv, 2);
SY_LAZY_CONV(LazyConv3d, Conv, 3);
SY_LAZY_CONV(LazyConvTranspose1d, ConvTranspose, 1);
SY_LAZY_CONV(LazyConvTranspose2d, ConvTranspose, 2);
SY_LAZY_CONV(LazyConvTranspose3d, ConvTranspose, 3);
#undef SY_LAZY_CONV

#define SY_LAZY_NORM(Name, Base, D)                    \
  class SY_API Name##Impl : public LazyImpl<Base<D>> { \
   public:                                             \
    using LazyImpl<Base<D>>::LazyImpl;                 \
    Name##Impl() : LazyImpl(Options(0)) {}             \
  };                                                   \
  SY_MODULE(Name)
SY_LAZY_NORM(LazyBatchNorm1d, BatchNormImplBase, 1);
SY_LAZY_NORM(LazyBatchNorm2d, BatchNormImplBase, 2);
SY_LAZY_NORM(LazyBatchNorm3d, BatchNormImplBase, 3);
SY_LAZY_NORM(LazyInstanceNorm1d, InstanceNormImpl, 1);
SY_LAZY_NORM(LazyInstanceNorm2d, InstanceNormImpl, 2);
SY_LAZY_NORM(LazyInstanceNorm3d, InstanceNormImpl, 3);
#undef SY_LAZY_NORM

}  // namespace sy::nn
