#include "examples/convnet/convnet.h"

#include <cmath>

namespace models {

void Convnet::add_convolution(const std::string& name, sy::IntArrayRef sizes,
                              Uniform& random) {
  const auto inputs = static_cast<double>(sizes[1] * sizes[2] * sizes[3]);
  weights_.insert(name + ".weight",
                  random.tensor(sizes, std::sqrt(3 / inputs)));
  weights_.insert(name + ".scale", random.full({sizes[0]}, 1));
  weights_.insert(name + ".shift", random.full({sizes[0]}, 0));
  statistics_.insert(name + ".mean", random.full({sizes[0]}, 0));
  statistics_.insert(name + ".var", random.full({sizes[0]}, 1));
}

Convnet::Convnet(int64_t channels, int64_t classes, Uniform& random) {
  add_convolution("stem", {channels, 1, 3, 3}, random);
  add_convolution("inner", {channels, channels, 3, 3}, random);
  add_convolution("outer", {channels, channels, 3, 3}, random);
  add_convolution("depth", {channels, 1, 3, 3}, random);
  add_convolution("point", {2 * channels, channels, 1, 1}, random);
  const double bound = std::sqrt(3 / static_cast<double>(2 * channels));
  weights_.insert("head.weight", random.tensor({classes, 2 * channels}, bound));
  weights_.insert("head.bias", random.full({classes}, 0));
}

// Convolution without a bias, of the same height and width; batch norm.
sy::Tensor Convnet::convolution(const sy::Tensor& x, const std::string& name,
                                int64_t groups, bool training) const {
  const sy::Tensor& weight = weights_[name + ".weight"];
  const int64_t padding = weight.size(2) / 2;
  const sy::Tensor y =
      sy::conv2d(x, weight, {}, {1, 1}, {padding, padding}, {1, 1}, groups);
  return sy::batch_norm(y, weights_[name + ".scale"], weights_[name + ".shift"],
                        statistics_[name + ".mean"], statistics_[name + ".var"],
                        training, 0.1, 1e-5, false);
}

sy::Tensor Convnet::forward(const sy::Tensor& images, bool training) const {
  const sy::Tensor stem = convolution(images, "stem", 1, training).relu();
  const sy::Tensor inner = convolution(stem, "inner", 1, training).relu();
  const sy::Tensor block =
      convolution(inner, "outer", 1, training).add(stem).relu();
  const sy::Tensor pooled = sy::max_pool2d(block, {2, 2});
  const sy::Tensor depth =
      convolution(pooled, "depth", pooled.size(1), training).relu();
  const sy::Tensor point = convolution(depth, "point", 1, training).relu();
  const sy::Tensor features = sy::adaptive_avg_pool2d(point, {1, 1}).flatten(1);
  return sy::linear(features, weights_["head.weight"], weights_["head.bias"]);
}

sy::Tensor Convnet::scores(const sy::Tensor& images) const {
  return forward(images, false);
}

sy::Tensor Convnet::loss(const sy::Tensor& images,
                         const sy::Tensor& labels) const {
  return sy::cross_entropy_loss(forward(images, true), labels);
}

}  // namespace models
