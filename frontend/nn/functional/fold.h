#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/fold.h"

namespace sy::nn::functional {

// Adds up blocks at their places in images: (N, C * kernel, blocks) to
// (N, C, output_size...), or both without N.
SY_API Tensor fold(const Tensor& input, const FoldFuncOptions& options);
// The blocks that a convolution sees: (N, C, H, W) to (N, C * kernel, blocks),
// or both without N.
SY_API Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);

}  // namespace sy::nn::functional
