#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API MuonOptions : OptimizerCloneableOptions<MuonOptions> {
  MuonOptions() = default;
  MuonOptions(double lr);
  using coefficients_t = std::tuple<double, double, double>;
  SY_OPTION(double, lr) = 1e-3;
  SY_OPTION(double, weight_decay) = 0.1;
  SY_OPTION(double, momentum) = 0.95;
  SY_OPTION(bool, nesterov) = true;
  // The coefficients of the Newton-Schulz iteration.
  SY_OPTION(coefficients_t, ns_coefficients) = {3.4445, -4.775, 2.0315};
  // The least norm to divide by.
  SY_OPTION(double, eps) = 1e-7;
  SY_OPTION(int64_t, ns_steps) = 5;
  // "original" (the default), "match_rms_adamw" or "spectral_unclamped".
  SY_OPTION(std::optional<std::string>, adjust_lr_fn) = std::nullopt;

 public:
  const char* optimizer() const override { return "Muon"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  void check_parameter(const Tensor& parameter,
                       const std::string& where) const override;
  const UpdateRule* rule() const override;
};

// Jordan et al., "Muon: An optimizer for hidden layers in neural networks"
// (2024). For parameters of two dims only.
//
//   b = momentum * b + (1 - momentum) * grad
//   u = momentum * b + (1 - momentum) * grad if nesterov, else b
//   u = the nearest orthogonal matrix, by some Newton-Schulz steps in bfloat16
//   p = (1 - lr * weight_decay) * p - lr * f(sizes) * u
//
// f is sqrt(max(1, rows / columns)), 0.2 * sqrt(max(rows, columns)), or
// sqrt(rows / columns). State: momentum_buffer.
class SY_API Muon : public OptimizerOf<MuonOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
