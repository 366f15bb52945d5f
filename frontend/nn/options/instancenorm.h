#pragma once

#include <cstdint>

#include "aten/tensor.h"
#include "frontend/nn/arg.h"

namespace sy::nn {

struct SY_API InstanceNormOptions {
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}

  SY_ARG(int64_t, num_features);
  SY_ARG(double, eps) = 1e-5;
  SY_ARG(double, momentum) = 0.1;
  SY_ARG(bool, affine) = false;
  SY_ARG(bool, track_running_stats) = false;
};

using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace functional {

struct InstanceNormFuncOptions {
  SY_ARG(Tensor, running_mean);
  SY_ARG(Tensor, running_var);
  SY_ARG(Tensor, weight);
  SY_ARG(Tensor, bias);
  SY_ARG(bool, use_input_stats) = true;
  SY_ARG(double, momentum) = 0.1;
  SY_ARG(double, eps) = 1e-5;
};

}  // namespace functional
}  // namespace sy::nn
