#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API NAdamOptions : OptimizerCloneableOptions<NAdamOptions> {
  NAdamOptions() = default;
  NAdamOptions(double lr);
  using betas_t = std::tuple<double, double>;
  SY_OPTION(double, lr) = 2e-3;
  SY_OPTION(betas_t, betas) = {0.9, 0.999};
  SY_OPTION(double, eps) = 1e-8;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(double, momentum_decay) = 4e-3;
  SY_OPTION(bool, decoupled_weight_decay) = false;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "NAdam"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Dozat, "Incorporating Nesterov Momentum into Adam" (2016).
//
//   g = grad + weight_decay * p, or p *= 1 - lr * weight_decay if decoupled
//   mu(t) = beta1 * (1 - 0.96^(t * momentum_decay) / 2)
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g * g
//   d = sqrt(v / (1 - beta2^t)) + eps
//   p -= lr * (1 - mu(t)) / (1 - mu(1) ... mu(t)) * g / d
//   p -= lr * mu(t + 1) / (1 - mu(1) ... mu(t + 1)) * m / d
//
// State: step, mu_product, exp_avg, exp_avg_sq.
class SY_API NAdam : public OptimizerOf<NAdamOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
