#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API AdagradOptions : OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions() = default;
  AdagradOptions(double lr);
  SY_OPTION(double, lr) = 1e-2;
  SY_OPTION(double, lr_decay) = 0;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(double, initial_accumulator_value) = 0;
  SY_OPTION(double, eps) = 1e-10;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "Adagrad"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning
// and Stochastic Optimization" (2011).
//
//   g = grad + weight_decay * p
//   s = s + g * g
//   p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)
//
// State: step, sum.
class SY_API Adagrad : public OptimizerOf<AdagradOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
