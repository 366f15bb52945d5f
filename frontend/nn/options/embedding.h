#pragma once

#include <cstdint>
#include <optional>

#include "aten/tensor.h"
#include "frontend/nn/arg.h"
#include "frontend/nn/options/enums.h"

namespace sy::nn {

using EmbeddingBagMode =
    enumtype::OneOf<enumtype::kSum, enumtype::kMean, enumtype::kMax>;

struct EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}

  SY_ARG(int64_t, num_embeddings);
  SY_ARG(int64_t, embedding_dim);
  // A row that gets no gradient and starts as zeros; negative from the end.
  SY_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  // Each call shrinks the rows it reads to this norm.
  SY_ARG(std::optional<double>, max_norm) = std::nullopt;
  SY_ARG(double, norm_type) = 2.0;
  // Divides the gradient of a row by the number of times it was read.
  SY_ARG(bool, scale_grad_by_freq) = false;
  // Handed to the operator, which gives dense gradients all the same.
  SY_ARG(bool, sparse) = false;
  // The weight to start with, in place of normal numbers.
  SY_ARG(Tensor, _weight);
};

struct EmbeddingFromPretrainedOptions {
  SY_ARG(bool, freeze) = true;
  SY_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  SY_ARG(std::optional<double>, max_norm) = std::nullopt;
  SY_ARG(double, norm_type) = 2.0;
  SY_ARG(bool, scale_grad_by_freq) = false;
  SY_ARG(bool, sparse) = false;
};

struct EmbeddingBagOptions {
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}

  SY_ARG(int64_t, num_embeddings);
  SY_ARG(int64_t, embedding_dim);
  SY_ARG(std::optional<double>, max_norm) = std::nullopt;
  SY_ARG(double, norm_type) = 2.0;
  SY_ARG(bool, scale_grad_by_freq) = false;
  SY_ARG(EmbeddingBagMode, mode) = kMean;
  // Handed to the operator, whose gradient throws then.
  SY_ARG(bool, sparse) = false;
  SY_ARG(Tensor, _weight);
  // The offsets end with the number of indices.
  SY_ARG(bool, include_last_offset) = false;
  SY_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

struct EmbeddingBagFromPretrainedOptions {
  SY_ARG(bool, freeze) = true;
  SY_ARG(std::optional<double>, max_norm) = std::nullopt;
  SY_ARG(double, norm_type) = 2.0;
  SY_ARG(bool, scale_grad_by_freq) = false;
  SY_ARG(EmbeddingBagMode, mode) = kMean;
  SY_ARG(bool, sparse) = false;
  SY_ARG(bool, include_last_offset) = false;
  SY_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

namespace functional {

struct EmbeddingFuncOptions {
  SY_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  SY_ARG(std::optional<double>, max_norm) = std::nullopt;
  SY_ARG(double, norm_type) = 2.0;
  SY_ARG(bool, scale_grad_by_freq) = false;
  SY_ARG(bool, sparse) = false;
};

struct EmbeddingBagFuncOptions {
  SY_ARG(Tensor, offsets);
  SY_ARG(std::optional<double>, max_norm) = std::nullopt;
  SY_ARG(double, norm_type) = 2.0;
  SY_ARG(bool, scale_grad_by_freq) = false;
  SY_ARG(EmbeddingBagMode, mode) = kMean;
  SY_ARG(bool, sparse) = false;
  SY_ARG(Tensor, per_sample_weights);
  SY_ARG(bool, include_last_offset) = false;
  SY_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

}  // namespace functional
}  // namespace sy::nn
