#include "frontend/nn/modules/padding.h"

#include "aten/ops/padding.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

template <size_t D, class Mode>
Tensor detail::PadImpl<D, Mode>::forward(const Tensor& input) {
  return sy::pad(input, options.padding(), Mode::name);
}

template <size_t D, class Mode>
std::string detail::PadImpl<D, Mode>::extra_repr() const {
  return python_tuple(options.padding());
}

template <size_t D>
Tensor ConstantPadImpl<D>::forward(const Tensor& input) {
  return sy::constant_pad_nd(input, options.padding(), options.value());
}

template <size_t D>
std::string ConstantPadImpl<D>::extra_repr() const {
  return str("padding={}, value={}", detail::python_tuple(options.padding()),
             detail::python_float(options.value()));
}

template class detail::PadImpl<1, enumtype::kReflect>;
template class detail::PadImpl<2, enumtype::kReflect>;
template class detail::PadImpl<3, enumtype::kReflect>;
template class detail::PadImpl<1, enumtype::kReplicate>;
template class detail::PadImpl<2, enumtype::kReplicate>;
template class detail::PadImpl<3, enumtype::kReplicate>;
template class detail::PadImpl<1, enumtype::kCircular>;
template class detail::PadImpl<2, enumtype::kCircular>;
template class detail::PadImpl<3, enumtype::kCircular>;
template class detail::PadImpl<1, enumtype::kConstant>;
template class detail::PadImpl<2, enumtype::kConstant>;
template class detail::PadImpl<3, enumtype::kConstant>;
template class ConstantPadImpl<1>;
template class ConstantPadImpl<2>;
template class ConstantPadImpl<3>;

}  // namespace sy::nn
