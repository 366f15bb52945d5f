#include "frontend/nn/functional/padding.h"

#include "aten/ops/padding.h"

namespace sy::nn::functional {

Tensor pad(const Tensor& input, const PadFuncOptions& o) {
  return sy::pad(input, o.pad(), o.mode().name(), o.value());
}

}  // namespace sy::nn::functional
