#pragma once

#include "frontend/nn/options/instancenorm.h"

namespace sy::nn::functional {

// Each channel of each sample minus its mean and divided by its standard
// deviation: its own if `use_input_stats`, which also updates the running ones
// if there are some, else the running ones.
SY_API Tensor instance_norm(const Tensor& input,
                            const InstanceNormFuncOptions& options = {});

namespace detail {

Tensor instance_norm(const Tensor& input, const Tensor& running_mean,
                     const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, bool use_input_stats, double momentum,
                     double eps);

}  // namespace detail
}  // namespace sy::nn::functional
