#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/padding.h"

namespace sy::nn::functional {

// Pads the last pad.size() / 2 dimensions.
SY_API Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace sy::nn::functional
