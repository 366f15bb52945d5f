#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API AdadeltaOptions : OptimizerCloneableOptions<AdadeltaOptions> {
  AdadeltaOptions() = default;
  AdadeltaOptions(double lr);
  SY_OPTION(double, lr) = 1.0;
  SY_OPTION(double, rho) = 0.9;
  SY_OPTION(double, eps) = 1e-6;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "Adadelta"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Zeiler, "ADADELTA: An Adaptive Learning Rate Method" (2012).
//
//   g = grad + weight_decay * p
//   v = rho * v + (1 - rho) * g * g
//   d = sqrt(u + eps) / sqrt(v + eps) * g
//   u = rho * u + (1 - rho) * d * d
//   p -= lr * d
//
// State: step, square_avg (v), acc_delta (u).
class SY_API Adadelta : public OptimizerOf<AdadeltaOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
