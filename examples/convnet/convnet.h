#pragma once

#include <sy/nn.h>
#include <sy/sy.h>

namespace models {

namespace nn = sy::nn;

// Convolution without a bias, of the same height and width; batch norm.
struct ConvNormImpl : nn::Module {
  ConvNormImpl(int64_t in, int64_t out, int64_t kernel, int64_t groups = 1);
  sy::Tensor forward(const sy::Tensor& x) { return norm(conv(x)); }

  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d norm{nullptr};
};
SY_MODULE(ConvNorm);

// A small residual network: images [batch, 1, height, width] to scores of
// classes [batch, classes].
struct ConvnetImpl : nn::Module {
  ConvnetImpl(int64_t channels, int64_t classes);
  sy::Tensor forward(const sy::Tensor& images);

  ConvNorm stem{nullptr}, inner{nullptr}, outer{nullptr};
  ConvNorm depth{nullptr}, point{nullptr};
  nn::Linear head{nullptr};
};
SY_MODULE(Convnet);

}  // namespace models
