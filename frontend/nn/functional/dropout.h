#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/dropout.h"

// Dropouts as functions. Without `training` they give back the input. They
// throw ValueError for a probability outside of [0, 1].

namespace sy::nn::functional {

// 0 with probability p for each element, else the element times 1 / (1 - p).
SY_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
// The same with one choice for each channel: of (N, C, L) or (C, L), (N, C, H,
// W) or (C, H, W), (N, C, D, H, W) or (C, D, H, W). Throw ValueError for other
// numbers of dims.
SY_API Tensor dropout1d(Tensor input, const Dropout1dFuncOptions& options = {});
SY_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});
SY_API Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {});
// Elements dropped become the limit of selu at -inf; the result is scaled and
// moved to the mean and variance that selu keeps.
SY_API Tensor alpha_dropout(Tensor input,
                            const AlphaDropoutFuncOptions& options = {});
// The same with one choice for each channel, of (N, C, ...).
SY_API Tensor feature_alpha_dropout(
    Tensor input, const FeatureAlphaDropoutFuncOptions& options = {});

}  // namespace sy::nn::functional
