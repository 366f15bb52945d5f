#include "frontend/nn/modules/distance.h"

#include "frontend/nn/functional/distance.h"

namespace sy::nn {

Tensor CosineSimilarityImpl::forward(const Tensor& input1,
                                     const Tensor& input2) {
  return functional::cosine_similarity(input1, input2, options);
}

Tensor PairwiseDistanceImpl::forward(const Tensor& input1,
                                     const Tensor& input2) {
  return functional::pairwise_distance(input1, input2, options);
}

}  // namespace sy::nn
