#include "frontend/nn/modules/fold.h"

#include "frontend/nn/functional/fold.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

using detail::python_size;

Tensor FoldImpl::forward(const Tensor& input) {
  return functional::fold(input, options);
}

std::string FoldImpl::extra_repr() const {
  return str(
      "output_size={}, kernel_size={}, dilation={}, padding={}, "
      "stride={}",
      python_size(options.output_size()), python_size(options.kernel_size()),
      python_size(options.dilation()), python_size(options.padding()),
      python_size(options.stride()));
}

Tensor UnfoldImpl::forward(const Tensor& input) {
  return functional::unfold(input, options);
}

std::string UnfoldImpl::extra_repr() const {
  return str("kernel_size={}, dilation={}, padding={}, stride={}",
             python_size(options.kernel_size()),
             python_size(options.dilation()), python_size(options.padding()),
             python_size(options.stride()));
}

}  // namespace sy::nn
