#include "examples/transformer/transformer.h"

#include <vector>

namespace models {

BlockImpl::BlockImpl(int64_t width, int64_t heads) : heads(heads) {
  norm1 =
      register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})));
  attention = register_module("attention", nn::Linear(width, 3 * width));
  projection = register_module("projection", nn::Linear(width, width));
  norm2 =
      register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})));
  up = register_module("up", nn::Linear(width, 4 * width));
  down = register_module("down", nn::Linear(4 * width, width));
}

sy::Tensor BlockImpl::attend(const sy::Tensor& x) {
  // Queries, keys and values [batch, heads, length, width / heads].
  const std::vector<sy::Tensor> parts = attention(x)
                                            .unflatten(-1, {3, heads, -1})
                                            .permute({2, 0, 3, 1, 4})
                                            .unbind();
  const sy::Tensor mixed = sy::scaled_dot_product_attention(
      parts[0], parts[1], parts[2], {}, 0, /*is_causal=*/true);
  return projection(mixed.transpose(1, 2).flatten(2));
}

sy::Tensor BlockImpl::forward(const sy::Tensor& x) {
  const sy::Tensor y = x + attend(norm1(x));
  return y + down(sy::gelu(up(norm2(y))));
}

TransformerImpl::TransformerImpl(const TransformerShape& s) {
  embedding =
      register_module("embedding", nn::Embedding(s.vocabulary, s.width));
  positions = register_module("positions", nn::Embedding(s.context, s.width));
  register_module("layers", layers);
  for (int64_t i = 0; i < s.layers; ++i) {
    layers->push_back(Block(s.width, s.heads));
  }
  norm =
      register_module("norm", nn::LayerNorm(nn::LayerNormOptions({s.width})));
  head = register_module("head", nn::Linear(s.width, s.vocabulary));
}

sy::Tensor TransformerImpl::forward(const sy::Tensor& tokens) {
  const sy::Tensor x =
      embedding(tokens) + positions->weight.slice(0, 0, tokens.size(1));
  return head(norm(layers(x)));
}

}  // namespace models
