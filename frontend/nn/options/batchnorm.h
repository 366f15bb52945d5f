#pragma once

#include <cstdint>
#include <optional>

#include "aten/tensor.h"
#include "frontend/nn/arg.h"

namespace sy::nn {

struct SY_API BatchNormOptions {
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}

  SY_ARG(int64_t, num_features);
  SY_ARG(double, eps) = 1e-5;
  // std::nullopt: the mean over all batches so far.
  SY_ARG(std::optional<double>, momentum) = 0.1;
  SY_ARG(bool, affine) = true;
  SY_ARG(bool, track_running_stats) = true;
};

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

namespace functional {

struct BatchNormFuncOptions {
  SY_ARG(Tensor, weight);
  SY_ARG(Tensor, bias);
  SY_ARG(bool, training) = false;
  SY_ARG(double, momentum) = 0.1;
  SY_ARG(double, eps) = 1e-5;
};

}  // namespace functional
}  // namespace sy::nn
