#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API SGDOptions : OptimizerCloneableOptions<SGDOptions> {
  SGDOptions() = default;
  SGDOptions(double lr);
  SY_OPTION(double, lr) = 1e-3;
  SY_OPTION(double, momentum) = 0;
  SY_OPTION(double, dampening) = 0;
  SY_OPTION(double, weight_decay) = 0;
  // Needs momentum and no dampening.
  SY_OPTION(bool, nesterov) = false;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "SGD"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Stochastic gradient descent, with the momentum of Sutskever et al., "On the
// importance of initialization and momentum in deep learning" (2013), as
// PyTorch has it: the lr is not part of the velocity.
//
//   g = grad + weight_decay * p
//   v = momentum * v + (1 - dampening) * g, but g in the first step
//   p -= lr * (nesterov ? g + momentum * v : v)
//
// State: momentum_buffer, if there is momentum.
class SY_API SGD : public OptimizerOf<SGDOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
