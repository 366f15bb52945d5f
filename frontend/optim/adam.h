#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API AdamOptions : OptimizerCloneableOptions<AdamOptions> {
  AdamOptions() = default;
  AdamOptions(double lr);
  using betas_t = std::tuple<double, double>;
  SY_OPTION(double, lr) = 1e-3;
  SY_OPTION(betas_t, betas) = {0.9, 0.999};
  SY_OPTION(double, eps) = 1e-8;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(bool, amsgrad) = false;
  SY_OPTION(bool, maximize) = false;
  // Step counts are tensors on the parameters' device. Steps within
  // sy::compile are so without it.
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;
  SY_OPTION(bool, decoupled_weight_decay) = false;

 public:
  const char* optimizer() const override { return "Adam"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2014); amsgrad:
// Reddi et al., "On the Convergence of Adam and Beyond" (2018).
//
//   g = grad + weight_decay * p, or p *= 1 - lr * weight_decay if decoupled
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g * g
//   p -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
//
// With amsgrad, the greatest v so far takes the place of v in the last line.
// State: step, exp_avg, exp_avg_sq, max_exp_avg_sq.
class SY_API Adam : public OptimizerOf<AdamOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

struct SY_API AdamWOptions : OptimizerCloneableOptions<AdamWOptions> {
  AdamWOptions() = default;
  AdamWOptions(double lr);
  using betas_t = std::tuple<double, double>;
  SY_OPTION(double, lr) = 1e-3;
  SY_OPTION(betas_t, betas) = {0.9, 0.999};
  SY_OPTION(double, eps) = 1e-8;
  SY_OPTION(double, weight_decay) = 1e-2;
  SY_OPTION(bool, amsgrad) = false;
  SY_OPTION(bool, maximize) = false;
  SY_OPTION(bool, capturable) = false;
  SY_OPTION(bool, differentiable) = false;

 public:
  const char* optimizer() const override { return "AdamW"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Adam with decoupled weight decay: Loshchilov and Hutter, "Decoupled Weight
// Decay Regularization" (2017).
class SY_API AdamW : public OptimizerOf<AdamWOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
