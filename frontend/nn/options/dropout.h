#pragma once

#include "frontend/nn/arg.h"

// Options of the dropouts. Names and defaults are libtorch's.

namespace sy::nn {

struct DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  // The probability of being dropped.
  SY_ARG(double, p);
  SY_ARG(bool, inplace) = false;
};
using Dropout1dOptions = DropoutOptions;
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

struct DropoutFuncOptions {
  SY_ARG(double, p) = 0.5;
  SY_ARG(bool, training) = true;
  SY_ARG(bool, inplace) = false;
};
using Dropout1dFuncOptions = DropoutFuncOptions;
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

// The same, but off by default.
struct AlphaDropoutFuncOptions {
  SY_ARG(double, p) = 0.5;
  SY_ARG(bool, training) = false;
  SY_ARG(bool, inplace) = false;
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;

}  // namespace functional
}  // namespace sy::nn
