#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "c10/tensor/scalar_type.h"
#include "frontend/nn/arg.h"

// Options of the activations. Names and defaults are libtorch's; options with
// the same members are one type. `inplace` writes the result over the input.

namespace sy::nn {

struct InplaceOptions {
  InplaceOptions(bool inplace = false) : inplace_(inplace) {}
  SY_ARG(bool, inplace);
};
using ReLUOptions = InplaceOptions;
using ReLU6Options = InplaceOptions;
using SELUOptions = InplaceOptions;
using HardsigmoidOptions = InplaceOptions;
using HardswishOptions = InplaceOptions;

struct ELUOptions {
  // The limit at -inf is -alpha.
  SY_ARG(double, alpha) = 1.0;
  SY_ARG(bool, inplace) = false;
};
using CELUOptions = ELUOptions;

struct GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  // The dim that is halved.
  SY_ARG(int64_t, dim);
};

struct GELUOptions {
  // "none" for erf, "tanh" for the approximation by tanh.
  SY_ARG(std::string, approximate) = "none";
};

struct HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  // Elements in [-lambda, lambda] become 0.
  SY_ARG(double, lambda);
};
using SoftshrinkOptions = HardshrinkOptions;

struct HardtanhOptions {
  SY_ARG(double, min_val) = -1.0;
  SY_ARG(double, max_val) = 1.0;
  SY_ARG(bool, inplace) = false;
};

struct LeakyReLUOptions {
  SY_ARG(double, negative_slope) = 1e-2;
  SY_ARG(bool, inplace) = false;
};

struct SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  // The dim along which results add up to 1.
  SY_ARG(int64_t, dim);
};
using SoftminOptions = SoftmaxOptions;
using LogSoftmaxOptions = SoftmaxOptions;

struct PReLUOptions {
  // 1, or the number of channels.
  SY_ARG(int64_t, num_parameters) = 1;
  SY_ARG(double, init) = 0.25;
};

struct RReLUOptions {
  // Bounds of the random slopes.
  SY_ARG(double, lower) = 1.0 / 8.0;
  SY_ARG(double, upper) = 1.0 / 3.0;
  SY_ARG(bool, inplace) = false;
};

struct SoftplusOptions {
  SY_ARG(double, beta) = 1.0;
  // The function is linear where beta * x is above it.
  SY_ARG(double, threshold) = 20.0;
};

struct ThresholdOptions {
  ThresholdOptions(double threshold, double value)
      : threshold_(threshold), value_(value) {}
  SY_ARG(double, threshold);
  // The value of elements up to the threshold.
  SY_ARG(double, value);
  SY_ARG(bool, inplace) = false;
};

namespace functional {

using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using SELUFuncOptions = SELUOptions;
using HardsigmoidFuncOptions = HardsigmoidOptions;
using HardswishFuncOptions = HardswishOptions;
using ELUFuncOptions = ELUOptions;
using CELUFuncOptions = CELUOptions;
using GLUFuncOptions = GLUOptions;
using GELUFuncOptions = GELUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using ThresholdFuncOptions = ThresholdOptions;

struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  SY_ARG(int64_t, dim);
  // The input is converted to it first.
  SY_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};
using SoftminFuncOptions = SoftmaxFuncOptions;
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;

struct RReLUFuncOptions {
  SY_ARG(double, lower) = 1.0 / 8.0;
  SY_ARG(double, upper) = 1.0 / 3.0;
  SY_ARG(bool, training) = false;
  SY_ARG(bool, inplace) = false;
};

struct GumbelSoftmaxFuncOptions {
  SY_ARG(double, tau) = 1.0;
  // Gives one-hot vectors, with the gradient of the soft ones.
  SY_ARG(bool, hard) = false;
  SY_ARG(int, dim) = -1;
};

}  // namespace functional
}  // namespace sy::nn
