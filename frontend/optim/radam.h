#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API RAdamOptions : OptimizerCloneableOptions<RAdamOptions> {
  RAdamOptions() = default;
  RAdamOptions(double lr);
  using betas_t = std::tuple<double, double>;
  SY_OPTION(double, lr) = 1e-3;
  SY_OPTION(betas_t, betas) = {0.9, 0.999};
  SY_OPTION(double, eps) = 1e-8;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(bool, decoupled_weight_decay) = false;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "RAdam"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond"
// (2019).
//
//   g = grad + weight_decay * p, or p *= 1 - lr * weight_decay if decoupled
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g * g
//   rho = 2 / (1 - beta2) - 1
//   rho_t = rho - 2 * t * beta2^t / (1 - beta2^t)
//   r = sqrt((rho_t - 4) (rho_t - 2) rho / ((rho - 4) (rho - 2) rho_t))
//   a = r * sqrt(1 - beta2^t) / (sqrt(v) + eps) if rho_t > 5, else 1
//   p -= lr * m / (1 - beta1^t) * a
//
// State: step, exp_avg, exp_avg_sq.
class SY_API RAdam : public OptimizerOf<RAdamOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
