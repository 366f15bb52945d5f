#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/upsampling.h"

namespace sy::nn::functional {

// Resizes the dimensions beyond the first two, one to three: size, or
// floor(size of the input * scale_factor). kLinear takes one of them, kBilinear
// and kBicubic two, kTrilinear three, the others any number. Throws ValueError
// for both or none of size and scale_factor, for wrong numbers of values, and
// for options that the mode does not have.
SY_API Tensor interpolate(const Tensor& input,
                          const InterpolateFuncOptions& options = {});

}  // namespace sy::nn::functional
