#include "frontend/nn/modules/instancenorm.h"

#include "frontend/nn/functional/instancenorm.h"

namespace sy::nn {

template <size_t D>
Tensor InstanceNormImpl<D>::forward(const Tensor& input) {
  const bool batched = input.dim() != D + 1;
  const bool features = options.affine() || options.track_running_stats();
  check_input(input, D + 1, D + 2, features ? batched : -1);
  const Tensor result = functional::detail::instance_norm(
      batched ? input : input.unsqueeze(0), running_mean, running_var, weight,
      bias, is_training() || !options.track_running_stats(), options.momentum(),
      options.eps());
  return batched ? result : result.squeeze(0);
}

template class InstanceNormImpl<1>;
template class InstanceNormImpl<2>;
template class InstanceNormImpl<3>;

}  // namespace sy::nn
