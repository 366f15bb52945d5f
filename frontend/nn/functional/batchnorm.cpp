#include "frontend/nn/functional/batchnorm.h"

#include "aten/ops/batch_norm.h"
#include "frontend/nn/functional/if_defined.h"

namespace sy::nn::functional {

using nn::detail::if_defined;

Tensor detail::batch_norm(const Tensor& input, const Tensor& running_mean,
                          const Tensor& running_var, const Tensor& weight,
                          const Tensor& bias, bool training, double momentum,
                          double eps) {
  SY_CHECK(input.dim() >= 2, Value,
           "[batch_norm] input: expected at least 2 dimensions, got {}",
           input.dim());
  SY_CHECK(!training || input.numel() != input.size(1), Value,
           "[batch_norm] input: expected more than one value per channel in "
           "training, got sizes {}",
           input.sizes());
  return sy::batch_norm(input, if_defined(weight), if_defined(bias),
                        if_defined(running_mean), if_defined(running_var),
                        training, momentum, eps, true);
}

Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                  const Tensor& running_var, const BatchNormFuncOptions& o) {
  return detail::batch_norm(input, running_mean, running_var, o.weight(),
                            o.bias(), o.training(), o.momentum(), o.eps());
}

}  // namespace sy::nn::functional
