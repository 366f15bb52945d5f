#include "examples/transformer/transformer.h"

#include <cmath>

namespace models {

namespace {

std::string layer_name(int64_t i) { return "layers." + std::to_string(i); }

}  // namespace

Transformer::Transformer(const TransformerShape& shape, Uniform& random)
    : shape_(shape) {
  const int64_t width = shape.width;
  const auto embedding = [&](const char* name, int64_t rows) {
    weights_.insert(name, random.tensor({rows, width}, 1));
  };
  const auto norm = [&](const std::string& name) {
    weights_.insert(name + ".weight", random.full({width}, 1));
    weights_.insert(name + ".bias", random.full({width}, 0));
  };
  const auto matrix = [&](const std::string& name, int64_t out, int64_t in) {
    const double bound = std::sqrt(3.0 / static_cast<double>(in));
    weights_.insert(name + ".weight", random.tensor({out, in}, bound));
    weights_.insert(name + ".bias", random.full({out}, 0));
  };
  embedding("tokens", shape.vocabulary);
  embedding("positions", shape.context);
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = layer_name(i);
    norm(layer + ".norm1");
    matrix(layer + ".attention", 3 * width, width);
    matrix(layer + ".projection", width, width);
    norm(layer + ".norm2");
    matrix(layer + ".up", 4 * width, width);
    matrix(layer + ".down", width, 4 * width);
  }
  norm("norm");
  matrix("head", shape.vocabulary, width);
}

sy::Tensor Transformer::linear(const sy::Tensor& x,
                               const std::string& name) const {
  return sy::linear(x, weights_[name + ".weight"], weights_[name + ".bias"]);
}

sy::Tensor Transformer::norm(const sy::Tensor& x,
                             const std::string& name) const {
  return sy::layer_norm(x, {shape_.width}, weights_[name + ".weight"],
                        weights_[name + ".bias"]);
}

sy::Tensor Transformer::attention(const sy::Tensor& x,
                                  const std::string& layer) const {
  const int64_t batch = x.size(0), length = x.size(1);
  const int64_t head_width = shape_.width / shape_.heads;
  // 3 of [batch, heads, length, head_width].
  const std::vector<sy::Tensor> parts =
      linear(x, layer + ".attention")
          .view({batch, length, 3, shape_.heads, head_width})
          .permute({2, 0, 3, 1, 4})
          .unbind(0);
  const sy::Tensor mixed =
      sy::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0,
                                       /*is_causal=*/true)
          .transpose(1, 2)
          .reshape({batch, length, shape_.width});
  return linear(mixed, layer + ".projection");
}

sy::Tensor Transformer::scores(const sy::Tensor& tokens) const {
  sy::Tensor x = sy::embedding(weights_["tokens"], tokens)
                     .add(weights_["positions"].slice(0, 0, tokens.size(1)));
  for (int64_t i = 0; i < shape_.layers; ++i) {
    const std::string layer = layer_name(i);
    x = x.add(attention(norm(x, layer + ".norm1"), layer));
    const sy::Tensor wide =
        sy::gelu(linear(norm(x, layer + ".norm2"), layer + ".up"));
    x = x.add(linear(wide, layer + ".down"));
  }
  return linear(norm(x, "norm"), "head");
}

sy::Tensor Transformer::loss(const sy::Tensor& tokens,
                             const sy::Tensor& targets) const {
  return sy::cross_entropy_loss(scores(tokens).flatten(0, 1),
                                targets.flatten());
}

}  // namespace models
