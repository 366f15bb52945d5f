#pragma once

#include <sy/nn.h>
#include <sy/sy.h>

namespace models {

namespace nn = sy::nn;

// Attention to what came before, then two layers; both are added to the input
// [batch, length, width].
struct BlockImpl : nn::Module {
  BlockImpl(int64_t width, int64_t heads);
  sy::Tensor forward(const sy::Tensor& x);
  sy::Tensor attend(const sy::Tensor& x);

  int64_t heads;
  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  nn::Linear attention{nullptr}, projection{nullptr};
  nn::Linear up{nullptr}, down{nullptr};
};
SY_MODULE(Block);

struct TransformerShape {
  int64_t vocabulary, context, width, heads, layers;
};

// A decoder of the GPT kind: of each token it predicts the next. int64 tokens
// [batch, length], at most `context` long, to scores [batch, length,
// vocabulary].
struct TransformerImpl : nn::Module {
  explicit TransformerImpl(const TransformerShape& shape);
  sy::Tensor forward(const sy::Tensor& tokens);

  nn::Embedding embedding{nullptr}, positions{nullptr};
  nn::Sequential layers;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};
SY_MODULE(Transformer);

}  // namespace models
