#include "frontend/nn/modules/weight_and_bias.h"

#include <cmath>

#include "frontend/nn/init.h"

namespace sy::nn::detail {

void WeightAndBias::set_parameters(Tensor new_weight, Tensor new_bias) {
  weight = set_parameter("weight", std::move(new_weight));
  bias = set_parameter("bias", std::move(new_bias));
}

void WeightAndBias::init_by_fan_in() {
  init::kaiming_uniform_(weight, std::sqrt(5));
  if (!bias.defined()) return;
  const auto fan_in = std::get<0>(init::_calculate_fan_in_and_fan_out(weight));
  const double bound =
      fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  init::uniform_(bias, -bound, bound);
}

void check_at_least(int64_t least, std::string_view module,
                    std::string_view option, int64_t value) {
  SY_CHECK(value >= least, Value, "[{}] {}: expected at least {}, got {}",
           module, option, least, value);
}

}  // namespace sy::nn::detail
