#include "aten/ops/loss_binary.h"

#include <cmath>

#include "aten/contract/reduction_kind.h"
#include "aten/ops/loss_binary_kernels.h"
#include "aten/ops/reduction.h"

namespace sy::composite {

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target,
                            const std::optional<Tensor>& weight,
                            int64_t reduction) {
  const Tensor each = sy::_binary_cross_entropy(self, target);
  // A capture has no elements to look at, as other devices have none here.
  if (self.device().is_cpu() && thread_state.capture == nullptr) {
    const bool probabilities =
        !std::isnan(sy::sum(each.detach()).item().to_double());
    SY_CHECK(probabilities, Value,
             "[binary_cross_entropy] self: expected probabilities in [0, 1], "
             "as in target, got others");
  }
  const Tensor loss = weight && weight->defined() ? each.mul(*weight) : each;
  if (reduction == Reduction::Mean) return sy::mean(loss);
  return reduction == Reduction::Sum ? sy::sum(loss) : loss;
}

}  // namespace sy::composite
