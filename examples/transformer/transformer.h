#pragma once

#include "examples/common/model.h"

namespace models {

// A decoder of the GPT kind: of each token it predicts the next.
struct TransformerShape {
  int64_t vocabulary, context, width, heads, layers;
};

class Transformer {
 public:
  // Weights from -sqrt(3 / inputs) to sqrt(3 / inputs), drawn in their order.
  Transformer(const TransformerShape& shape, Uniform& random);
  // Those of a file: a Transformer's weights().
  Transformer(const TransformerShape& shape, sy::NamedTensors weights)
      : shape_(shape), weights_(std::move(weights)) {}

  // Scores [batch, length, vocabulary] of int64 tokens [batch, length].
  sy::Tensor scores(const sy::Tensor& tokens) const;
  // The mean loss of predicting `targets` [batch, length].
  sy::Tensor loss(const sy::Tensor& tokens, const sy::Tensor& targets) const;

  const sy::NamedTensors& weights() const { return weights_; }

 private:
  sy::Tensor linear(const sy::Tensor& x, const std::string& name) const;
  sy::Tensor norm(const sy::Tensor& x, const std::string& name) const;
  sy::Tensor attention(const sy::Tensor& x, const std::string& layer) const;

  TransformerShape shape_;
  sy::NamedTensors weights_;
};

}  // namespace models
