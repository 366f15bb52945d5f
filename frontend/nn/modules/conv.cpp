#include "frontend/nn/modules/conv.h"

#include "aten/ops/factory.h"
#include "aten/ops/padding.h"
#include "frontend/nn/functional/conv.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

namespace F = functional;
using detail::check_at_least;
using detail::python_tuple;

namespace {

template <size_t D>
detail::ConvNdOptions<D> options_of(const ConvOptions<D>& o) {
  return detail::ConvNdOptions<D>(o.in_channels(), o.out_channels(),
                                  o.kernel_size())
      .stride(o.stride())
      .padding(o.padding())
      .dilation(o.dilation())
      .groups(o.groups())
      .bias(o.bias())
      .padding_mode(o.padding_mode());
}

template <size_t D>
detail::ConvNdOptions<D> options_of(const ConvTransposeOptions<D>& o) {
  return detail::ConvNdOptions<D>(o.in_channels(), o.out_channels(),
                                  o.kernel_size())
      .transposed(true)
      .stride(o.stride())
      .padding(o.padding())
      .output_padding(o.output_padding())
      .dilation(o.dilation())
      .groups(o.groups())
      .bias(o.bias())
      .padding_mode(o.padding_mode());
}

template <size_t D>
std::string name_of(const detail::ConvNdOptions<D>& o) {
  return str("Conv{}{}d", o.transposed() ? "Transpose" : "", D);
}

template <size_t D>
void check(const detail::ConvNdOptions<D>& o) {
  const std::string name = name_of(o);
  check_at_least(1, name, "groups", o.groups());
  check_at_least(1, name, "in_channels", o.in_channels());
  check_at_least(1, name, "out_channels", o.out_channels());
  SY_CHECK(o.in_channels() % o.groups() == 0, Value,
           "[{}] in_channels: expected a multiple of the {} groups, got {}",
           name, o.groups(), o.in_channels());
  SY_CHECK(o.out_channels() % o.groups() == 0, Value,
           "[{}] out_channels: expected a multiple of the {} groups, got {}",
           name, o.groups(), o.out_channels());
  for (const int64_t k : *o.kernel_size()) {
    check_at_least(0, name, "kernel_size", k);
  }
  SY_CHECK(o.padding().mode() != kSame || o.stride().all(1), Value,
           "[{}] padding: 'same' expects a stride of 1, got {}", name,
           IntArrayRef(o.stride()));
  SY_CHECK(!o.transposed() || o.padding().mode() == kConstant, Value,
           "[{}] padding: expected values, got '{}'", name,
           o.padding().mode().name());
  SY_CHECK(!o.transposed() || o.padding_mode() == kZeros, Value,
           "[{}] padding_mode: expected 'zeros', got '{}'", name,
           o.padding_mode().name());
}

}  // namespace

template <size_t D>
ConvNdImpl<D>::ConvNdImpl(detail::ConvNdOptions<D> options)
    : options(std::move(options)) {
  reset();
}

template <size_t D>
void ConvNdImpl<D>::reset() {
  check(options);
  const int64_t in = options.in_channels(), out = options.out_channels();
  std::vector<int64_t> sizes = options.transposed()
                                   ? std::vector{in, out / options.groups()}
                                   : std::vector{out, in / options.groups()};
  sizes.insert(sizes.end(), options.kernel_size()->begin(),
               options.kernel_size()->end());
  set_parameters(sy::empty(sizes),
                 options.bias() ? sy::empty({out}) : Tensor());
  reset_parameters();
}

template <size_t D>
std::string ConvNdImpl<D>::extra_repr() const {
  const auto& o = options;
  std::string text = str("{}, {}, kernel_size={}, stride={}", o.in_channels(),
                         o.out_channels(), python_tuple(o.kernel_size()),
                         python_tuple(o.stride()));
  if (o.padding().mode() != kConstant) {
    text += str(", padding={}", o.padding().mode().name());
  } else if (!o.padding().all(0)) {
    text += ", padding=" + python_tuple(o.padding());
  }
  if (!o.dilation().all(1)) text += ", dilation=" + python_tuple(o.dilation());
  if (!o.output_padding().all(0)) {
    text += ", output_padding=" + python_tuple(o.output_padding());
  }
  if (o.groups() != 1) text += str(", groups={}", o.groups());
  if (!bias.defined()) text += ", bias=False";
  if (o.padding_mode() != kZeros) {
    text += str(", padding_mode={}", o.padding_mode().name());
  }
  return text;
}

template <size_t D>
ConvImpl<D>::ConvImpl(const ConvOptions<D>& options)
    : ConvNdImpl<D>(options_of(options)) {}

template <size_t D>
std::vector<int64_t> ConvImpl<D>::padding_of_input() const {
  const auto& o = this->options;
  std::vector<int64_t> sides;
  for (size_t d = D; d-- > 0;) {
    const bool same = o.padding().mode() == kSame;
    const int64_t both = same ? (*o.dilation())[d] * ((*o.kernel_size())[d] - 1)
                              : 2 * (*o.padding())[d];
    sides.push_back(both / 2);
    sides.push_back(both - both / 2);
  }
  return sides;
}

template <size_t D>
Tensor ConvImpl<D>::forward(const Tensor& input) {
  const auto& o = this->options;
  if (o.padding_mode() == kZeros) {
    return F::detail::Conv<D>::plain(input, this->weight, this->bias,
                                     o.stride(), o.padding(), o.dilation(),
                                     o.groups());
  }
  const Tensor padded =
      sy::pad(input, padding_of_input(), o.padding_mode().name());
  return F::detail::Conv<D>::plain(padded, this->weight, this->bias, o.stride(),
                                   0, o.dilation(), o.groups());
}

template <size_t D>
ConvTransposeImpl<D>::ConvTransposeImpl(const ConvTransposeOptions<D>& options)
    : ConvNdImpl<D>(options_of(options)) {}

template <size_t D>
std::vector<int64_t> ConvTransposeImpl<D>::output_padding(
    const Tensor& input, IntArrayRef output_size) const {
  const auto& o = this->options;
  const size_t outer = static_cast<size_t>(input.dim()) - D;
  const IntArrayRef sizes = output_size.size() == outer + D
                                ? output_size.slice(outer, D)
                                : output_size;
  SY_CHECK(sizes.size() == D, Value,
           "[{}] output_size: expected {} or {} values, got {}", name_of(o), D,
           outer + D, output_size);
  std::vector<int64_t> extra;
  for (size_t d = 0; d < D; ++d) {
    const int64_t least =
        (input.size(static_cast<int64_t>(outer + d)) - 1) * (*o.stride())[d] -
        2 * (*o.padding())[d] +
        (*o.dilation())[d] * ((*o.kernel_size())[d] - 1) + 1;
    const int64_t most = least + (*o.stride())[d] - 1;
    SY_CHECK(least <= sizes[d] && sizes[d] <= most, Value,
             "[{}] output_size: expected {} to {} in dimension {}, got {}",
             name_of(o), least, most, d, sizes[d]);
    extra.push_back(sizes[d] - least);
  }
  return extra;
}

template <size_t D>
Tensor ConvTransposeImpl<D>::forward(const Tensor& input,
                                     const OptionalIntArrayRef& output_size) {
  const auto& o = this->options;
  const auto run = [&](IntArrayRef extra) {
    return F::detail::Conv<D>::transposed(input, this->weight, this->bias,
                                          o.stride(), o.padding(), extra,
                                          o.groups(), o.dilation());
  };
  const bool has_dims = input.dim() >= static_cast<int64_t>(D);
  if (!output_size.has_value() || !has_dims) return run(o.output_padding());
  return run(output_padding(input, *output_size));
}

template class ConvNdImpl<1>;
template class ConvNdImpl<2>;
template class ConvNdImpl<3>;
template class ConvImpl<1>;
template class ConvImpl<2>;
template class ConvImpl<3>;
template class ConvTransposeImpl<1>;
template class ConvTransposeImpl<2>;
template class ConvTransposeImpl<3>;

}  // namespace sy::nn
