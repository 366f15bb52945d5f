#include "frontend/nn/functional/instancenorm.h"

#include "aten/ops/batch_norm.h"
#include "frontend/nn/functional/if_defined.h"

namespace sy::nn::functional {

using nn::detail::if_defined;

Tensor detail::instance_norm(const Tensor& input, const Tensor& running_mean,
                             const Tensor& running_var, const Tensor& weight,
                             const Tensor& bias, bool use_input_stats,
                             double momentum, double eps) {
  SY_CHECK(input.dim() >= 2, Value,
           "[instance_norm] input: expected at least 2 dimensions, got {}",
           input.dim());
  SY_CHECK(
      !use_input_stats || input.numel() != input.size(0) * input.size(1), Value,
      "[instance_norm] input: expected more than one value per channel and "
      "sample, got sizes {}",
      input.sizes());
  return sy::instance_norm(input, if_defined(weight), if_defined(bias),
                           if_defined(running_mean), if_defined(running_var),
                           use_input_stats, momentum, eps, true);
}

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& o) {
  return detail::instance_norm(input, o.running_mean(), o.running_var(),
                               o.weight(), o.bias(), o.use_input_stats(),
                               o.momentum(), o.eps());
}

}  // namespace sy::nn::functional
