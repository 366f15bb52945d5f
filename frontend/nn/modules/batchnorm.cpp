#include "frontend/nn/modules/batchnorm.h"

#include "c10/dispatch/thread_state.h"
#include "frontend/nn/functional/batchnorm.h"

namespace sy::nn {

detail::TrainingForward::~TrainingForward() = default;

template <size_t D>
Tensor BatchNormImplBase<D>::forward(const Tensor& input) {
  check_input(input, D == 1 ? 2 : D + 2, D + 2, -1);
  if (training_forward != nullptr && is_training()) {
    return training_forward->forward(*this, input);
  }
  double momentum = options.momentum().value_or(0);
  if (is_training() && num_batches_tracked.defined()) {
    NoGradGuard no_grad;
    num_batches_tracked.add_(1);
    if (!options.momentum().has_value()) {
      momentum = 1 / num_batches_tracked.item<double>();
    }
  }
  // Options that were changed after construction say whether they are used.
  const bool running = !is_training() || options.track_running_stats();
  const bool training = is_training() || !running_mean.defined();
  return functional::detail::batch_norm(
      input, running ? running_mean : Tensor(),
      running ? running_var : Tensor(), weight, bias, training, momentum,
      options.eps());
}

template class BatchNormImplBase<1>;
template class BatchNormImplBase<2>;
template class BatchNormImplBase<3>;

}  // namespace sy::nn
