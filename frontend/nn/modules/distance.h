#pragma once

#include "frontend/nn/modules/with_options.h"
#include "frontend/nn/options/distance.h"

// Distances as modules. functional/distance.h has their formulas.

namespace sy::nn {

// input1 * input2 summed along dim, over the product of their norms.
class SY_API CosineSimilarityImpl
    : public detail::WithOptions<CosineSimilarityOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input1, const Tensor& input2);
};
SY_MODULE(CosineSimilarity);

// The p-norm of input1 - input2 + eps along the last dim.
class SY_API PairwiseDistanceImpl
    : public detail::WithOptions<PairwiseDistanceOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input1, const Tensor& input2);
};
SY_MODULE(PairwiseDistance);

}  // namespace sy::nn
