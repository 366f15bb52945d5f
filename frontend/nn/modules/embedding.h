#pragma once

#include "frontend/nn/module.h"
#include "frontend/nn/options/embedding.h"

namespace sy::nn {

// Rows of a matrix, `weight` of sizes (num_embeddings, embedding_dim), by
// index. It starts as normal numbers, the row padding_idx as zeros. Throws
// ValueError for negative sizes, a padding_idx that is no row, and a _weight of
// other sizes.
class SY_API EmbeddingImpl : public Module {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options);

  // Makes a new weight by the options.
  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& indices);
  std::string extra_repr() const override;

  EmbeddingOptions options;
  Parameter weight;
};

class SY_API Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl = EmbeddingImpl;
  // The weight shares the memory of `embeddings`, and is not trained if
  // `freeze`. Throws ValueError unless it is a matrix.
  static Embedding from_pretrained(
      const Tensor& embeddings,
      const EmbeddingFromPretrainedOptions& options = {});
};

// Sums, means or maxima of rows of `weight`; functional/embedding.h says which.
class SY_API EmbeddingBagImpl : public Module {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options);

  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {});
  std::string extra_repr() const override;

  EmbeddingBagOptions options;
  Parameter weight;
};

class SY_API EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl = EmbeddingBagImpl;
  static EmbeddingBag from_pretrained(
      const Tensor& embeddings,
      const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace sy::nn
