#pragma once

#include "frontend/nn/options/normalization.h"

namespace sy::nn::functional {

// The input minus the mean and divided by the standard deviation over the last
// dimensions, those of normalized_shape; then times weight plus bias.
SY_API Tensor layer_norm(const Tensor& input,
                         const LayerNormFuncOptions& options);
// input / sqrt(mean(input^2) + eps) over the same dimensions, times weight.
SY_API Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options);
// As layer_norm, over groups of channels, dimension 1, and all that follows.
SY_API Tensor group_norm(const Tensor& input,
                         const GroupNormFuncOptions& options);
// input / (k + alpha * mean of the squares of `size` neighbouring
// channels)^beta, where channels beyond the ends count as 0. Throws ValueError
// for less than 3 dimensions.
SY_API Tensor local_response_norm(const Tensor& input,
                                  const LocalResponseNormFuncOptions& options);
// input / max(p-norm over dim, eps).
SY_API Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {});

}  // namespace sy::nn::functional
