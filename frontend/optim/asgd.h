#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API ASGDOptions : OptimizerCloneableOptions<ASGDOptions> {
  ASGDOptions() = default;
  ASGDOptions(double lr);
  SY_OPTION(double, lr) = 1e-2;
  SY_OPTION(double, lambd) = 1e-4;
  SY_OPTION(double, alpha) = 0.75;
  // The step after which the average begins.
  SY_OPTION(double, t0) = 1e6;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "ASGD"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Averaged stochastic gradient descent: Polyak and Juditsky, "Acceleration of
// stochastic approximation by averaging" (1992).
//
//   g = grad + weight_decay * p
//   p = (1 - lambd * eta) * p - eta * g
//   ax += mu * (p - ax)
//   eta = lr / (1 + lambd * lr * t)^alpha
//   mu = 1 / max(1, t - t0)
//
// State: step, eta (first lr), mu (first 1), ax: the average.
class SY_API ASGD : public OptimizerOf<ASGDOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
