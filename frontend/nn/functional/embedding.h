#pragma once

#include "frontend/nn/options/embedding.h"

namespace sy::nn::functional {

// Ones at the given indices along a new last dimension of num_classes, or of as
// many as the largest index wants.
SY_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);

// The rows of a matrix: indices of sizes S to (S..., columns). max_norm writes
// to the weight. Throws ValueError for a padding_idx that is no row.
SY_API Tensor embedding(const Tensor& input, const Tensor& weight,
                        const EmbeddingFuncOptions& options = {});

// Sums, means or maxima of rows: a matrix of indices gives one for each of its
// rows; a vector of them one for each bag, which begin at `offsets`. Throws
// ValueError for offsets that are missing or too many, per_sample_weights of
// other sizes or with another mode than kSum, and kMax with sparse or
// scale_grad_by_freq.
SY_API Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                            const EmbeddingBagFuncOptions& options = {});

}  // namespace sy::nn::functional
