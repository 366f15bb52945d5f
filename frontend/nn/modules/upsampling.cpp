#include "frontend/nn/modules/upsampling.h"

#include <algorithm>

#include "frontend/nn/functional/upsampling.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

namespace F = functional;

Tensor UpsampleImpl::forward(const Tensor& input) {
  return F::interpolate(input, F::InterpolateFuncOptions()
                                   .size(options.size())
                                   .scale_factor(options.scale_factor())
                                   .mode(options.mode())
                                   .align_corners(options.align_corners()));
}

std::string UpsampleImpl::extra_repr() const {
  const std::string mode = str(", mode='{}'", options.mode().name());
  if (options.scale_factor().has_value()) {
    return "scale_factor=" + detail::python_size(*options.scale_factor()) +
           mode;
  }
  if (!options.size().has_value()) return "size=None" + mode;
  return "size=" + detail::python_size(*options.size()) + mode;
}

}  // namespace sy::nn
