#include "frontend/nn/functional/distance.h"

#include "aten/ops/distance.h"

namespace sy::nn::functional {

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                         const CosineSimilarityFuncOptions& options) {
  return sy::cosine_similarity(x1, x2, options.dim(), options.eps());
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                         const PairwiseDistanceFuncOptions& options) {
  return sy::pairwise_distance(x1, x2, options.p(), options.eps(),
                               options.keepdim());
}

Tensor pdist(const Tensor& input, double p) { return sy::pdist(input, p); }

}  // namespace sy::nn::functional
