#include "frontend/nn/functional/pooling.h"

#include <cmath>

#include "aten/ops/activation.h"
#include "aten/ops/factory.h"
#include "aten/ops/pooling.h"
#include "aten/ops/pooling_adaptive.h"
#include "aten/ops/pooling_max.h"

namespace sy::nn::functional {

namespace detail {

namespace {

std::array<int64_t, 1> sizes_of(std::string_view, const Tensor&,
                                const ExpandingArray<1>& output_size) {
  return *output_size;
}

// Sizes that are absent are those of the input.
template <size_t D>
std::array<int64_t, D> sizes_of(
    std::string_view op, const Tensor& input,
    const ExpandingArrayWithOptionalElem<D>& output_size) {
  SY_CHECK(input.dim() > static_cast<int64_t>(D), Value,
           "[{}{}d] input: expected {} or {} dimensions, got {}", op, D, D + 1,
           D + 2, input.dim());
  std::array<int64_t, D> sizes;
  for (size_t d = 0; d < D; ++d) {
    const auto from_end = static_cast<int64_t>(d) - static_cast<int64_t>(D);
    sizes[d] = (*output_size)[d].value_or(input.size(from_end));
  }
  return sizes;
}

template <size_t D>
std::vector<int64_t> unpooled_size(const Tensor& input,
                                   const MaxUnpoolFuncOptions<D>& o) {
  SY_CHECK(input.dim() > static_cast<int64_t>(D), Value,
           "[max_unpool{}d] input: expected {} or {} dimensions, got {}", D,
           D + 1, D + 2, input.dim());
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < D; ++d) {
    const auto from_end = static_cast<int64_t>(d) - static_cast<int64_t>(D);
    sizes.push_back((input.size(from_end) - 1) * (*o.stride())[d] +
                    (*o.kernel_size())[d] - 2 * (*o.padding())[d]);
  }
  if (!o.output_size().has_value()) return sizes;
  IntArrayRef wanted = *o.output_size();
  if (wanted.size() == D + 2) wanted = wanted.slice(2, D);
  SY_CHECK(wanted.size() == D, Value,
           "[max_unpool{}d] output_size: expected {} or {} values, got {}", D,
           D, D + 2, IntArrayRef(*o.output_size()));
  for (size_t d = 0; d < D; ++d) {
    const int64_t reach = (*o.stride())[d] - 1;
    SY_CHECK(std::abs(wanted[d] - sizes[d]) <= reach, Value,
             "[max_unpool{}d] output_size: expected {} to {} in dimension {}, "
             "got {}",
             D, sizes[d] - reach, sizes[d] + reach, d, wanted[d]);
  }
  return wanted.vec();
}

}  // namespace

template <size_t D>
Tensor Pool<D>::avg(const Tensor& input, const AvgPoolOptions<D>& o) {
  if constexpr (D == 1) {
    if (o.divisor_override().has_value()) {
      const auto column = [](const ExpandingArray<1>& a, int64_t first) {
        return ExpandingArray<2>({first, a->front()});
      };
      const auto o2 = AvgPoolOptions<2>(column(o.kernel_size(), 1))
                          .stride(column(o.stride(), 1))
                          .padding(column(o.padding(), 0))
                          .ceil_mode(o.ceil_mode())
                          .count_include_pad(o.count_include_pad())
                          .divisor_override(o.divisor_override());
      return Pool<2>::avg(input.unsqueeze(-2), o2).squeeze(-2);
    }
    return sy::avg_pool1d(input, o.kernel_size(), o.stride(), o.padding(),
                          o.ceil_mode(), o.count_include_pad());
  } else if constexpr (D == 2) {
    return sy::avg_pool2d(input, o.kernel_size(), o.stride(), o.padding(),
                          o.ceil_mode(), o.count_include_pad(),
                          o.divisor_override());
  } else {
    return sy::avg_pool3d(input, o.kernel_size(), o.stride(), o.padding(),
                          o.ceil_mode(), o.count_include_pad(),
                          o.divisor_override());
  }
}

template <size_t D>
Tensor Pool<D>::max(const Tensor& input, const MaxPoolOptions<D>& o) {
  if constexpr (D == 1) {
    return sy::max_pool1d(input, o.kernel_size(), o.stride(), o.padding(),
                          o.dilation(), o.ceil_mode());
  } else if constexpr (D == 2) {
    return sy::max_pool2d(input, o.kernel_size(), o.stride(), o.padding(),
                          o.dilation(), o.ceil_mode());
  } else {
    return sy::max_pool3d(input, o.kernel_size(), o.stride(), o.padding(),
                          o.dilation(), o.ceil_mode());
  }
}

template <size_t D>
auto Pool<D>::max_with_indices(const Tensor& input, const MaxPoolOptions<D>& o)
    -> WithIndices {
  if constexpr (D == 1) {
    return sy::max_pool1d_with_indices(input, o.kernel_size(), o.stride(),
                                       o.padding(), o.dilation(),
                                       o.ceil_mode());
  } else if constexpr (D == 2) {
    return sy::max_pool2d_with_indices(input, o.kernel_size(), o.stride(),
                                       o.padding(), o.dilation(),
                                       o.ceil_mode());
  } else {
    return sy::max_pool3d_with_indices(input, o.kernel_size(), o.stride(),
                                       o.padding(), o.dilation(),
                                       o.ceil_mode());
  }
}

template <size_t D>
Tensor Pool<D>::adaptive_avg(const Tensor& input, const AdaptiveAvgPool<D>& o) {
  const auto sizes = sizes_of("adaptive_avg_pool", input, o.output_size());
  if constexpr (D == 1) {
    return sy::adaptive_avg_pool1d(input, sizes);
  } else if constexpr (D == 2) {
    return sy::adaptive_avg_pool2d(input, sizes);
  } else {
    return sy::adaptive_avg_pool3d(input, sizes);
  }
}

template <size_t D>
auto Pool<D>::adaptive_max(const Tensor& input, const AdaptiveMaxPool<D>& o)
    -> WithIndices {
  const auto sizes = sizes_of("adaptive_max_pool", input, o.output_size());
  if constexpr (D == 1) {
    return sy::adaptive_max_pool1d(input, sizes);
  } else if constexpr (D == 2) {
    return sy::adaptive_max_pool2d(input, sizes);
  } else {
    return sy::adaptive_max_pool3d(input, sizes);
  }
}

template <size_t D>
Tensor Pool<D>::unpool(const Tensor& input, const Tensor& indices,
                       const MaxUnpoolFuncOptions<D>& o) {
  std::vector<int64_t> sizes = unpooled_size(input, o);
  if constexpr (D == 1) {
    sizes.push_back(1);
    return sy::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), sizes)
        .squeeze(-1);
  } else if constexpr (D == 2) {
    return sy::max_unpool2d(input, indices, sizes);
  } else {
    return sy::max_unpool3d(input, indices, sizes, o.stride(), o.padding());
  }
}

template <size_t D>
auto Pool<D>::fractional_max(const Tensor& input,
                             const FractionalMaxPoolOptions<D>& o)
    -> WithIndices requires(D > 1) {
  SY_CHECK(o.output_size().has_value() != o.output_ratio().has_value(), Value,
           "[fractional_max_pool{}d] expected one of output_size and "
           "output_ratio, got {}",
           D, o.output_size().has_value() ? "both" : "none");
  const int64_t dim = input.dim(), dims = static_cast<int64_t>(D);
  SY_CHECK(dim == dims + 1 || dim == dims + 2, Value,
           "[fractional_max_pool{}d] input: expected {} or {} dimensions, got "
           "{}",
           D, dims + 1, dims + 2, dim);
  ExpandingArray<D> sizes = o.output_size().value_or(0);
  if (o.output_ratio().has_value()) {
    for (size_t d = 0; d < D; ++d) {
      const int64_t n = input.size(static_cast<int64_t>(d) - dims);
      sizes->at(d) = static_cast<int64_t>(static_cast<double>(n) *
                                          (**o.output_ratio())[d]);
    }
  }
  Tensor samples = o._random_samples();
  if (!samples.defined()) {
    const int64_t batch = dim == dims + 1 ? 1 : input.size(0);
    samples = sy::rand({batch, input.size(-dims - 1), dims}, input.options());
  }
  if constexpr (D == 2) {
    return sy::fractional_max_pool2d(input, o.kernel_size(), sizes, samples);
  } else {
    return sy::fractional_max_pool3d(input, o.kernel_size(), sizes, samples);
  }
}

template <size_t D>
Tensor Pool<D>::lp(const Tensor& input, const LPPoolOptions<D>& o) {
  double values = 1;
  for (const int64_t k : *o.kernel_size()) values *= static_cast<double>(k);
  const Tensor means =
      avg(input.pow(o.norm_type()), AvgPoolOptions<D>(o.kernel_size())
                                        .stride(o.stride())
                                        .ceil_mode(o.ceil_mode()));
  return (means.sign().mul(sy::relu(means.abs())))
      .mul(values)
      .pow(1 / o.norm_type());
}

template struct Pool<1>;
template struct Pool<2>;
template struct Pool<3>;

}  // namespace detail

Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options) {
  return detail::Pool<1>::avg(input, options);
}

Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return detail::Pool<2>::avg(input, options);
}

Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options) {
  return detail::Pool<3>::avg(input, options);
}

Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options) {
  return detail::Pool<1>::max(input, options);
}

Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return detail::Pool<2>::max(input, options);
}

Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options) {
  return detail::Pool<3>::max(input, options);
}

std::tuple<Tensor, Tensor> max_pool1d_with_indices(
    const Tensor& input, const MaxPool1dFuncOptions& options) {
  return detail::Pool<1>::max_with_indices(input, options);
}

std::tuple<Tensor, Tensor> max_pool2d_with_indices(
    const Tensor& input, const MaxPool2dFuncOptions& options) {
  return detail::Pool<2>::max_with_indices(input, options);
}

std::tuple<Tensor, Tensor> max_pool3d_with_indices(
    const Tensor& input, const MaxPool3dFuncOptions& options) {
  return detail::Pool<3>::max_with_indices(input, options);
}

Tensor adaptive_avg_pool1d(const Tensor& input,
                           const AdaptiveAvgPool1dFuncOptions& options) {
  return detail::Pool<1>::adaptive_avg(input, options);
}

Tensor adaptive_avg_pool2d(const Tensor& input,
                           const AdaptiveAvgPool2dFuncOptions& options) {
  return detail::Pool<2>::adaptive_avg(input, options);
}

Tensor adaptive_avg_pool3d(const Tensor& input,
                           const AdaptiveAvgPool3dFuncOptions& options) {
  return detail::Pool<3>::adaptive_avg(input, options);
}

Tensor adaptive_max_pool1d(const Tensor& input,
                           const AdaptiveMaxPool1dFuncOptions& options) {
  return std::get<0>(detail::Pool<1>::adaptive_max(input, options));
}

Tensor adaptive_max_pool2d(const Tensor& input,
                           const AdaptiveMaxPool2dFuncOptions& options) {
  return std::get<0>(detail::Pool<2>::adaptive_max(input, options));
}

Tensor adaptive_max_pool3d(const Tensor& input,
                           const AdaptiveMaxPool3dFuncOptions& options) {
  return std::get<0>(detail::Pool<3>::adaptive_max(input, options));
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options) {
  return detail::Pool<1>::adaptive_max(input, options);
}

std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options) {
  return detail::Pool<2>::adaptive_max(input, options);
}

std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(
    const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options) {
  return detail::Pool<3>::adaptive_max(input, options);
}

Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool1dFuncOptions& options) {
  return detail::Pool<1>::unpool(input, indices, options);
}

Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool2dFuncOptions& options) {
  return detail::Pool<2>::unpool(input, indices, options);
}

Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool3dFuncOptions& options) {
  return detail::Pool<3>::unpool(input, indices, options);
}

Tensor fractional_max_pool2d(const Tensor& input,
                             const FractionalMaxPool2dFuncOptions& options) {
  return std::get<0>(detail::Pool<2>::fractional_max(input, options));
}

Tensor fractional_max_pool3d(const Tensor& input,
                             const FractionalMaxPool3dFuncOptions& options) {
  return std::get<0>(detail::Pool<3>::fractional_max(input, options));
}

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options) {
  return detail::Pool<2>::fractional_max(input, options);
}

std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options) {
  return detail::Pool<3>::fractional_max(input, options);
}

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options) {
  return detail::Pool<1>::lp(input, options);
}

Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options) {
  return detail::Pool<2>::lp(input, options);
}

Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options) {
  return detail::Pool<3>::lp(input, options);
}

}  // namespace sy::nn::functional
