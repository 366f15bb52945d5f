#pragma once

#include "frontend/nn/options/batchnorm.h"

namespace sy::nn::functional {

// Each channel, dimension 1, minus its mean and divided by its standard
// deviation: those of the batch if `training`, which also updates the running
// ones, else the running ones. Undefined running ones stand for none. Throws
// ValueError for one value per channel in training.
SY_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                         const Tensor& running_var,
                         const BatchNormFuncOptions& options = {});

namespace detail {

Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                  const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, bool training, double momentum,
                  double eps);

}  // namespace detail
}  // namespace sy::nn::functional
