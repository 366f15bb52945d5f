#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API RMSpropOptions : OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions() = default;
  RMSpropOptions(double lr);
  SY_OPTION(double, lr) = 1e-2;
  SY_OPTION(double, alpha) = 0.99;
  SY_OPTION(double, eps) = 1e-8;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(double, momentum) = 0;
  SY_OPTION(bool, centered) = false;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "RMSprop"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Tieleman and Hinton, lecture 6.5 of "Neural Networks for Machine Learning"
// (2012); centered: Graves, "Generating Sequences With Recurrent Neural
// Networks" (2013).
//
//   g = grad + weight_decay * p
//   v = alpha * v + (1 - alpha) * g * g
//   m = alpha * m + (1 - alpha) * g
//   d = sqrt(v), or sqrt(v - m * m) if centered
//   b = momentum * b + g / (d + eps)
//   p -= lr * b
//
// State: step, square_avg, momentum_buffer with momentum, grad_avg if centered.
class SY_API RMSprop : public OptimizerOf<RMSpropOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
