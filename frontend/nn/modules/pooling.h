#pragma once

#include <tuple>

#include "frontend/nn/module.h"
#include "frontend/nn/options/pooling.h"

// Pools of inputs (N, C, sizes...) or (C, sizes...). Indices are the place of
// each maximum in its channel, counted over all sizes.

namespace sy::nn {

// Means of windows.
template <size_t D>
class SY_API AvgPoolImpl : public Module {
 public:
  AvgPoolImpl(ExpandingArray<D> kernel_size)
      : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
  explicit AvgPoolImpl(const AvgPoolOptions<D>& options) : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  AvgPoolOptions<D> options;
};

extern template class AvgPoolImpl<1>;
extern template class AvgPoolImpl<2>;
extern template class AvgPoolImpl<3>;

class SY_API AvgPool1dImpl : public AvgPoolImpl<1> {
 public:
  using AvgPoolImpl<1>::AvgPoolImpl;
};
SY_MODULE(AvgPool1d);

class SY_API AvgPool2dImpl : public AvgPoolImpl<2> {
 public:
  using AvgPoolImpl<2>::AvgPoolImpl;
};
SY_MODULE(AvgPool2d);

class SY_API AvgPool3dImpl : public AvgPoolImpl<3> {
 public:
  using AvgPoolImpl<3>::AvgPoolImpl;
};
SY_MODULE(AvgPool3d);

// Maxima of windows.
template <size_t D>
class SY_API MaxPoolImpl : public Module {
 public:
  MaxPoolImpl(ExpandingArray<D> kernel_size)
      : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
  explicit MaxPoolImpl(const MaxPoolOptions<D>& options) : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  std::string extra_repr() const override;

  MaxPoolOptions<D> options;
};

extern template class MaxPoolImpl<1>;
extern template class MaxPoolImpl<2>;
extern template class MaxPoolImpl<3>;

class SY_API MaxPool1dImpl : public MaxPoolImpl<1> {
 public:
  using MaxPoolImpl<1>::MaxPoolImpl;
};
SY_MODULE(MaxPool1d);

class SY_API MaxPool2dImpl : public MaxPoolImpl<2> {
 public:
  using MaxPoolImpl<2>::MaxPoolImpl;
};
SY_MODULE(MaxPool2d);

class SY_API MaxPool3dImpl : public MaxPoolImpl<3> {
 public:
  using MaxPoolImpl<3>::MaxPoolImpl;
};
SY_MODULE(MaxPool3d);

namespace detail {

template <size_t D>
using AdaptiveSize = std::conditional_t<D == 1, ExpandingArray<1>,
                                        ExpandingArrayWithOptionalElem<D>>;

}  // namespace detail

// Means of windows as large as the sizes of the result want.
template <size_t D>
class SY_API AdaptiveAvgPoolImpl : public Module {
 public:
  AdaptiveAvgPoolImpl(detail::AdaptiveSize<D> output_size)
      : AdaptiveAvgPoolImpl(
            AdaptiveAvgPoolOptions<detail::AdaptiveSize<D>>(output_size)) {}
  explicit AdaptiveAvgPoolImpl(
      const AdaptiveAvgPoolOptions<detail::AdaptiveSize<D>>& options)
      : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  AdaptiveAvgPoolOptions<detail::AdaptiveSize<D>> options;
};

extern template class AdaptiveAvgPoolImpl<1>;
extern template class AdaptiveAvgPoolImpl<2>;
extern template class AdaptiveAvgPoolImpl<3>;

class SY_API AdaptiveAvgPool1dImpl : public AdaptiveAvgPoolImpl<1> {
 public:
  using AdaptiveAvgPoolImpl<1>::AdaptiveAvgPoolImpl;
};
SY_MODULE(AdaptiveAvgPool1d);

class SY_API AdaptiveAvgPool2dImpl : public AdaptiveAvgPoolImpl<2> {
 public:
  using AdaptiveAvgPoolImpl<2>::AdaptiveAvgPoolImpl;
};
SY_MODULE(AdaptiveAvgPool2d);

class SY_API AdaptiveAvgPool3dImpl : public AdaptiveAvgPoolImpl<3> {
 public:
  using AdaptiveAvgPoolImpl<3>::AdaptiveAvgPoolImpl;
};
SY_MODULE(AdaptiveAvgPool3d);

// Maxima of the same windows.
template <size_t D>
class SY_API AdaptiveMaxPoolImpl : public Module {
 public:
  AdaptiveMaxPoolImpl(detail::AdaptiveSize<D> output_size)
      : AdaptiveMaxPoolImpl(
            AdaptiveMaxPoolOptions<detail::AdaptiveSize<D>>(output_size)) {}
  explicit AdaptiveMaxPoolImpl(
      const AdaptiveMaxPoolOptions<detail::AdaptiveSize<D>>& options)
      : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  std::string extra_repr() const override;

  AdaptiveMaxPoolOptions<detail::AdaptiveSize<D>> options;
};

extern template class AdaptiveMaxPoolImpl<1>;
extern template class AdaptiveMaxPoolImpl<2>;
extern template class AdaptiveMaxPoolImpl<3>;

class SY_API AdaptiveMaxPool1dImpl : public AdaptiveMaxPoolImpl<1> {
 public:
  using AdaptiveMaxPoolImpl<1>::AdaptiveMaxPoolImpl;
};
SY_MODULE(AdaptiveMaxPool1d);

class SY_API AdaptiveMaxPool2dImpl : public AdaptiveMaxPoolImpl<2> {
 public:
  using AdaptiveMaxPoolImpl<2>::AdaptiveMaxPoolImpl;
};
SY_MODULE(AdaptiveMaxPool2d);

class SY_API AdaptiveMaxPool3dImpl : public AdaptiveMaxPoolImpl<3> {
 public:
  using AdaptiveMaxPoolImpl<3>::AdaptiveMaxPoolImpl;
};
SY_MODULE(AdaptiveMaxPool3d);

// The inverse of MaxPool: zeros, and the values at their places. An output_size
// has D or D + 2 values; ValueError if the pool cannot have had it.
template <size_t D>
class SY_API MaxUnpoolImpl : public Module {
 public:
  MaxUnpoolImpl(ExpandingArray<D> kernel_size)
      : MaxUnpoolImpl(MaxUnpoolOptions<D>(kernel_size)) {}
  explicit MaxUnpoolImpl(const MaxUnpoolOptions<D>& options)
      : options(options) {}

  void reset() {}
  Tensor forward(
      const Tensor& input, const Tensor& indices,
      const std::optional<std::vector<int64_t>>& output_size = std::nullopt);
  std::string extra_repr() const override;

  MaxUnpoolOptions<D> options;
};

extern template class MaxUnpoolImpl<1>;
extern template class MaxUnpoolImpl<2>;
extern template class MaxUnpoolImpl<3>;

class SY_API MaxUnpool1dImpl : public MaxUnpoolImpl<1> {
 public:
  using MaxUnpoolImpl<1>::MaxUnpoolImpl;
};
SY_MODULE(MaxUnpool1d);

class SY_API MaxUnpool2dImpl : public MaxUnpoolImpl<2> {
 public:
  using MaxUnpoolImpl<2>::MaxUnpoolImpl;
};
SY_MODULE(MaxUnpool2d);

class SY_API MaxUnpool3dImpl : public MaxUnpoolImpl<3> {
 public:
  using MaxUnpoolImpl<3>::MaxUnpoolImpl;
};
SY_MODULE(MaxUnpool3d);

// Maxima of windows at random places (Graham, 2014). Samples that the options
// give are a buffer. Throws ValueError for both or none of output_size and
// output_ratio, and for ratios outside of 0 to 1.
template <size_t D>
class SY_API FractionalMaxPoolImpl : public Module {
 public:
  FractionalMaxPoolImpl(ExpandingArray<D> kernel_size)
      : FractionalMaxPoolImpl(FractionalMaxPoolOptions<D>(kernel_size)) {}
  explicit FractionalMaxPoolImpl(const FractionalMaxPoolOptions<D>& options);

  void reset();
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);

  FractionalMaxPoolOptions<D> options;
  Parameter _random_samples;
};

extern template class FractionalMaxPoolImpl<2>;
extern template class FractionalMaxPoolImpl<3>;

class SY_API FractionalMaxPool2dImpl : public FractionalMaxPoolImpl<2> {
 public:
  using FractionalMaxPoolImpl<2>::FractionalMaxPoolImpl;
};
SY_MODULE(FractionalMaxPool2d);

class SY_API FractionalMaxPool3dImpl : public FractionalMaxPoolImpl<3> {
 public:
  using FractionalMaxPoolImpl<3>::FractionalMaxPoolImpl;
};
SY_MODULE(FractionalMaxPool3d);

// (sum of x^p)^(1/p) of windows, where p is norm_type.
template <size_t D>
class SY_API LPPoolImpl : public Module {
 public:
  LPPoolImpl(double norm_type, ExpandingArray<D> kernel_size)
      : LPPoolImpl(LPPoolOptions<D>(norm_type, kernel_size)) {}
  explicit LPPoolImpl(const LPPoolOptions<D>& options) : options(options) {}

  void reset() {}
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  LPPoolOptions<D> options;
};

extern template class LPPoolImpl<1>;
extern template class LPPoolImpl<2>;
extern template class LPPoolImpl<3>;

class SY_API LPPool1dImpl : public LPPoolImpl<1> {
 public:
  using LPPoolImpl<1>::LPPoolImpl;
};
SY_MODULE(LPPool1d);

class SY_API LPPool2dImpl : public LPPoolImpl<2> {
 public:
  using LPPoolImpl<2>::LPPoolImpl;
};
SY_MODULE(LPPool2d);

class SY_API LPPool3dImpl : public LPPoolImpl<3> {
 public:
  using LPPoolImpl<3>::LPPoolImpl;
};
SY_MODULE(LPPool3d);

}  // namespace sy::nn
