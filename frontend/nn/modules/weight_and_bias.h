#pragma once

#include <string_view>

#include "frontend/nn/module.h"

namespace sy::nn::detail {

// A module with the parameters `weight` and `bias`. Undefined ones stand for
// none.
class SY_API WeightAndBias : public Module {
 public:
  Parameter weight;
  Parameter bias;

 protected:
  // Registers both, in place of those it has.
  void set_parameters(Tensor new_weight, Tensor new_bias);
  // PyTorch's formula for layers that multiply with a weight: both are uniform
  // within 1 / sqrt(fan_in).
  void init_by_fan_in();
};

// Throws ValueError, "[Linear] in_features: expected at least 0, got -1".
SY_API void check_at_least(int64_t least, std::string_view module,
                           std::string_view option, int64_t value);

}  // namespace sy::nn::detail
