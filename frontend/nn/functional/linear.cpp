#include "frontend/nn/functional/linear.h"

#include "aten/ops/linalg.h"
#include "aten/ops/linalg_products.h"
#include "frontend/nn/functional/if_defined.h"

namespace sy::nn::functional {

using nn::detail::if_defined;

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return sy::linear(input, weight, if_defined(bias));
}

Tensor bilinear(const Tensor& input1, const Tensor& input2,
                const Tensor& weight, const Tensor& bias) {
  return sy::bilinear(input1, input2, weight, if_defined(bias));
}

}  // namespace sy::nn::functional
