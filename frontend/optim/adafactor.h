#pragma once

#include "frontend/optim/optimizer.h"

namespace sy::optim {

struct SY_API AdafactorOptions : OptimizerCloneableOptions<AdafactorOptions> {
  AdafactorOptions() = default;
  AdafactorOptions(double lr);
  using eps_t = std::tuple<std::optional<double>, double>;
  SY_OPTION(double, lr) = 1e-2;
  SY_OPTION(double, beta2_decay) = -0.8;
  // The first: by default that of the dtype.
  SY_OPTION(eps_t, eps) = {std::nullopt, 1e-3};
  // The greatest root mean square of an update.
  SY_OPTION(double, d) = 1.0;
  SY_OPTION(double, weight_decay) = 0;
  SY_OPTION(bool, maximize) = false;

 public:
  const char* optimizer() const override { return "Adafactor"; }
  std::vector<OptionRef> list() override;
  void check(const OptionCheck& check) const override;
  const UpdateRule* rule() const override;
};

// Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory
// Cost" (2018).
//
//   p *= 1 - lr * weight_decay
//   a = max(eps2, rms(p)) * min(lr, 1 / sqrt(t))
//   r, c = means of grad^2 over rows and columns, with weight t^beta2_decay
//   u = grad / max(sqrt(r * c / mean(r)), eps1)
//   p -= a * u / max(1, rms(u) / d)
//
// State: step; row_var and col_var, or variance of a parameter of less than two
// dims.
class SY_API Adafactor : public OptimizerOf<AdafactorOptions> {
 public:
  using OptimizerOf::OptimizerOf;
};

}  // namespace sy::optim
