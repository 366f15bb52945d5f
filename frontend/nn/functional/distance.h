#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/distance.h"

// Distances as functions. Inputs broadcast.

namespace sy::nn::functional {

// x1 * x2 summed along dim, over the product of their norms.
SY_API Tensor
cosine_similarity(const Tensor& x1, const Tensor& x2,
                  const CosineSimilarityFuncOptions& options = {});
// The p-norm of x1 - x2 + eps along the last dim.
SY_API Tensor
pairwise_distance(const Tensor& x1, const Tensor& x2,
                  const PairwiseDistanceFuncOptions& options = {});
// The p-norms of the differences of rows i < j of a matrix, those of row 0
// first.
SY_API Tensor pdist(const Tensor& input, double p = 2.0);

}  // namespace sy::nn::functional
