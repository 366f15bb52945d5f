#pragma once

#include "examples/common/model.h"

namespace models {

// A small residual network: images [batch, 1, height, width] to scores of
// classes [batch, classes].
class Convnet {
 public:
  // Weights from -sqrt(3 / inputs) to sqrt(3 / inputs), drawn in their order.
  Convnet(int64_t channels, int64_t classes, Uniform& random);

  // With the statistics of the training so far.
  sy::Tensor scores(const sy::Tensor& images) const;
  // The mean loss of telling `labels` [batch]. In training: batch statistics,
  // which are added to those of the training so far.
  sy::Tensor loss(const sy::Tensor& images, const sy::Tensor& labels) const;

  const sy::NamedTensors& weights() const { return weights_; }
  // Means and variances of batches, averaged over the training.
  const sy::NamedTensors& statistics() const { return statistics_; }

 private:
  void add_convolution(const std::string& name, sy::IntArrayRef sizes,
                       Uniform& random);
  sy::Tensor convolution(const sy::Tensor& x, const std::string& name,
                         int64_t groups, bool training) const;
  sy::Tensor forward(const sy::Tensor& images, bool training) const;

  sy::NamedTensors weights_, statistics_;
};

}  // namespace models
