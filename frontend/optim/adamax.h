#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API AdamaxOptions : OptimizerCloneableOptions<AdamaxOptions> {
  AdamaxOptions() = default;
  AdamaxOptions(double lr);
  using betas_t = std::tuple<double, double>;
  SY_OPTION(double, lr) = 2e-3;
  SY_OPTION(betas_t, betas) = {0.9, 0.999};
  SY_OPTION(double, eps) = 1e-8;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "Adamax"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Adam by the infinity norm: Kingma and Ba, "Adam: A Method for Stochastic
// Optimization" (2014), section 7.
//
//   g = grad + weight_decay * p
//   m = beta1 * m + (1 - beta1) * g
//   u = max(beta2 * u, |g| + eps)
//   p -= lr / (1 - beta1^t) * m / u
//
// State: step, exp_avg (m), exp_inf (u).
class SY_API Adamax : public OptimizerOf<AdamaxOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
