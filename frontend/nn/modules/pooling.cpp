#include "frontend/nn/modules/pooling.h"

#include "frontend/nn/functional/pooling.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

using detail::python_bool;
using detail::python_float;
using detail::python_size;
using detail::python_tuple;
template <size_t D>
using Pool = functional::detail::Pool<D>;

template <size_t D>
Tensor AvgPoolImpl<D>::forward(const Tensor& input) {
  return Pool<D>::avg(input, options);
}

template <size_t D>
std::string AvgPoolImpl<D>::extra_repr() const {
  // Python keeps tuples in 1d alone.
  const auto text =
      D == 1 ? &python_tuple
             : static_cast<std::string (*)(IntArrayRef)>(&python_size);
  return str("kernel_size={}, stride={}, padding={}",
             text(options.kernel_size()), text(options.stride()),
             text(options.padding()));
}

template <size_t D>
Tensor MaxPoolImpl<D>::forward(const Tensor& input) {
  return Pool<D>::max(input, options);
}

template <size_t D>
std::tuple<Tensor, Tensor> MaxPoolImpl<D>::forward_with_indices(
    const Tensor& input) {
  return Pool<D>::max_with_indices(input, options);
}

template <size_t D>
std::string MaxPoolImpl<D>::extra_repr() const {
  return str("kernel_size={}, stride={}, padding={}, dilation={}, ceil_mode={}",
             python_size(options.kernel_size()), python_size(options.stride()),
             python_size(options.padding()), python_size(options.dilation()),
             python_bool(options.ceil_mode()));
}

template <size_t D>
Tensor AdaptiveAvgPoolImpl<D>::forward(const Tensor& input) {
  return Pool<D>::adaptive_avg(input, options);
}

template <size_t D>
std::string AdaptiveAvgPoolImpl<D>::extra_repr() const {
  return "output_size=" + python_size(*options.output_size());
}

template <size_t D>
Tensor AdaptiveMaxPoolImpl<D>::forward(const Tensor& input) {
  return std::get<0>(forward_with_indices(input));
}

template <size_t D>
std::tuple<Tensor, Tensor> AdaptiveMaxPoolImpl<D>::forward_with_indices(
    const Tensor& input) {
  return Pool<D>::adaptive_max(input, options);
}

template <size_t D>
std::string AdaptiveMaxPoolImpl<D>::extra_repr() const {
  return "output_size=" + python_size(*options.output_size());
}

template <size_t D>
Tensor MaxUnpoolImpl<D>::forward(
    const Tensor& input, const Tensor& indices,
    const std::optional<std::vector<int64_t>>& output_size) {
  return Pool<D>::unpool(
      input, indices,
      functional::MaxUnpoolFuncOptions<D>(options.kernel_size())
          .stride(options.stride())
          .padding(options.padding())
          .output_size(output_size));
}

template <size_t D>
std::string MaxUnpoolImpl<D>::extra_repr() const {
  return str("kernel_size={}, stride={}, padding={}",
             python_tuple(options.kernel_size()),
             python_tuple(options.stride()), python_tuple(options.padding()));
}

template <size_t D>
FractionalMaxPoolImpl<D>::FractionalMaxPoolImpl(
    const FractionalMaxPoolOptions<D>& options)
    : options(options) {
  reset();
}

template <size_t D>
void FractionalMaxPoolImpl<D>::reset() {
  const auto& ratio = options.output_ratio();
  SY_CHECK(options.output_size().has_value() != ratio.has_value(), Value,
           "[FractionalMaxPool{}d] expected one of output_size and "
           "output_ratio, got {}",
           D, ratio.has_value() ? "both" : "none");
  for (size_t d = 0; ratio.has_value() && d < D; ++d) {
    SY_CHECK(0 < (**ratio)[d] && (**ratio)[d] < 1, Value,
             "[FractionalMaxPool{}d] output_ratio: expected values between 0 "
             "and 1, got {}",
             D, (**ratio)[d]);
  }
  // Another tensor object than that of the options, so that clone() copies it.
  const Tensor& samples = options._random_samples();
  _random_samples = set_buffer("_random_samples",
                               samples.defined() ? samples.detach() : Tensor());
}

template <size_t D>
Tensor FractionalMaxPoolImpl<D>::forward(const Tensor& input) {
  return std::get<0>(forward_with_indices(input));
}

template <size_t D>
std::tuple<Tensor, Tensor> FractionalMaxPoolImpl<D>::forward_with_indices(
    const Tensor& input) {
  FractionalMaxPoolOptions<D> now = options;
  return Pool<D>::fractional_max(input, now._random_samples(_random_samples));
}

template <size_t D>
Tensor LPPoolImpl<D>::forward(const Tensor& input) {
  return Pool<D>::lp(input, options);
}

template <size_t D>
std::string LPPoolImpl<D>::extra_repr() const {
  return str("norm_type={}, kernel_size={}, stride={}, ceil_mode={}",
             python_float(options.norm_type()),
             python_size(options.kernel_size()), python_size(options.stride()),
             python_bool(options.ceil_mode()));
}

template class AvgPoolImpl<1>;
template class AvgPoolImpl<2>;
template class AvgPoolImpl<3>;
template class MaxPoolImpl<1>;
template class MaxPoolImpl<2>;
template class MaxPoolImpl<3>;
template class AdaptiveAvgPoolImpl<1>;
template class AdaptiveAvgPoolImpl<2>;
template class AdaptiveAvgPoolImpl<3>;
template class AdaptiveMaxPoolImpl<1>;
template class AdaptiveMaxPoolImpl<2>;
template class AdaptiveMaxPoolImpl<3>;
template class MaxUnpoolImpl<1>;
template class MaxUnpoolImpl<2>;
template class MaxUnpoolImpl<3>;
template class FractionalMaxPoolImpl<2>;
template class FractionalMaxPoolImpl<3>;
template class LPPoolImpl<1>;
template class LPPoolImpl<2>;
template class LPPoolImpl<3>;

}  // namespace sy::nn
