#pragma once

#include <tuple>

#include "frontend/nn/options/pooling.h"

// Pools of inputs (N, C, sizes...) or (C, sizes...). Pools with indices also
// give the place of each maximum in its channel, counted over all sizes.

namespace sy::nn::functional {

// Means of windows.
SY_API Tensor avg_pool1d(const Tensor& input,
                         const AvgPool1dFuncOptions& options);
SY_API Tensor avg_pool2d(const Tensor& input,
                         const AvgPool2dFuncOptions& options);
SY_API Tensor avg_pool3d(const Tensor& input,
                         const AvgPool3dFuncOptions& options);

// Maxima of windows.
SY_API Tensor max_pool1d(const Tensor& input,
                         const MaxPool1dFuncOptions& options);
SY_API Tensor max_pool2d(const Tensor& input,
                         const MaxPool2dFuncOptions& options);
SY_API Tensor max_pool3d(const Tensor& input,
                         const MaxPool3dFuncOptions& options);
SY_API std::tuple<Tensor, Tensor> max_pool1d_with_indices(
    const Tensor& input, const MaxPool1dFuncOptions& options);
SY_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(
    const Tensor& input, const MaxPool2dFuncOptions& options);
SY_API std::tuple<Tensor, Tensor> max_pool3d_with_indices(
    const Tensor& input, const MaxPool3dFuncOptions& options);

// Windows as large as the sizes of the result want.
SY_API Tensor adaptive_avg_pool1d(const Tensor& input,
                                  const AdaptiveAvgPool1dFuncOptions& options);
SY_API Tensor adaptive_avg_pool2d(const Tensor& input,
                                  const AdaptiveAvgPool2dFuncOptions& options);
SY_API Tensor adaptive_avg_pool3d(const Tensor& input,
                                  const AdaptiveAvgPool3dFuncOptions& options);
SY_API Tensor adaptive_max_pool1d(const Tensor& input,
                                  const AdaptiveMaxPool1dFuncOptions& options);
SY_API Tensor adaptive_max_pool2d(const Tensor& input,
                                  const AdaptiveMaxPool2dFuncOptions& options);
SY_API Tensor adaptive_max_pool3d(const Tensor& input,
                                  const AdaptiveMaxPool3dFuncOptions& options);
SY_API std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options);
SY_API std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options);
SY_API std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(
    const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options);

// The inverse of a max_pool with indices: zeros, and the values at their
// places. Throws ValueError for an output_size that the pool cannot have had.
SY_API Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                           const MaxUnpool1dFuncOptions& options);
SY_API Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                           const MaxUnpool2dFuncOptions& options);
SY_API Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                           const MaxUnpool3dFuncOptions& options);

// Maxima of windows at random places, as many as the sizes of the result want
// (Graham, 2014). Throws ValueError for both or none of output_size and
// output_ratio.
SY_API Tensor fractional_max_pool2d(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
SY_API Tensor fractional_max_pool3d(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options);
SY_API std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
SY_API std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options);

// (sum of x^p)^(1/p) of windows.
SY_API Tensor lp_pool1d(const Tensor& input,
                        const LPPool1dFuncOptions& options);
SY_API Tensor lp_pool2d(const Tensor& input,
                        const LPPool2dFuncOptions& options);
SY_API Tensor lp_pool3d(const Tensor& input,
                        const LPPool3dFuncOptions& options);

namespace detail {

template <size_t D>
using AdaptiveAvgPool = AdaptiveAvgPoolOptions<std::conditional_t<
    D == 1, ExpandingArray<1>, ExpandingArrayWithOptionalElem<D>>>;
template <size_t D>
using AdaptiveMaxPool = AdaptiveMaxPoolOptions<std::conditional_t<
    D == 1, ExpandingArray<1>, ExpandingArrayWithOptionalElem<D>>>;

// The same for D dimensions.
template <size_t D>
struct Pool {
  using WithIndices = std::tuple<Tensor, Tensor>;

  static Tensor avg(const Tensor& input, const AvgPoolOptions<D>& o);
  static Tensor max(const Tensor& input, const MaxPoolOptions<D>& o);
  static WithIndices max_with_indices(const Tensor& input,
                                      const MaxPoolOptions<D>& o);
  static Tensor adaptive_avg(const Tensor& input, const AdaptiveAvgPool<D>& o);
  static WithIndices adaptive_max(const Tensor& input,
                                  const AdaptiveMaxPool<D>& o);
  static Tensor unpool(const Tensor& input, const Tensor& indices,
                       const MaxUnpoolFuncOptions<D>& o);
  static WithIndices fractional_max(
      const Tensor& input,
      const FractionalMaxPoolOptions<D>& o) requires(D > 1);
  static Tensor lp(const Tensor& input, const LPPoolOptions<D>& o);
};

}  // namespace detail
}  // namespace sy::nn::functional
