#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API RpropOptions : OptimizerCloneableOptions<RpropOptions> {
  RpropOptions() = default;
  RpropOptions(double lr);
  using pair_t = std::tuple<double, double>;
  SY_OPTION(double, lr) = 1e-2;
  // Factors of a step: where the gradient changes its sign, and where not.
  SY_OPTION(pair_t, etas) = {0.5, 1.2};
  // The least and the greatest step.
  SY_OPTION(pair_t, step_sizes) = {1e-6, 50};
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "Rprop"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Resilient propagation: Riedmiller and Braun, "A direct adaptive method for
// faster backpropagation learning: The RPROP algorithm" (1993).
//
//   s *= 1.2 where grad and the one before have one sign, 0.5 where they differ
//   grad = 0 where they differ
//   p -= sign(grad) * s
//
// State: step, prev (the gradient), step_size (first lr).
class SY_API Rprop : public OptimizerOf<RpropOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
