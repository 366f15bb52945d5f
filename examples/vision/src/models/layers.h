#pragma once

#include <sy/nn.h>
#include <sy/sy.h>

#include <cstdint>
#include <string>

// The layers that models are built of.

namespace vision {

namespace nn = sy::nn;
using sy::Tensor;

struct NormOptions {
  // Statistics and weights stay as they are in training, too: torchvision's
  // FrozenBatchNorm2d.
  bool frozen = false;
  double eps = 1e-5;
};

// BatchNorm2d, or frozen. The state dict of either fits both.
class NormImpl : public nn::BatchNorm2dImpl {
 public:
  explicit NormImpl(int64_t channels, const NormOptions& norm = {});
  Tensor forward(const Tensor& x);

 private:
  bool frozen_;
};
SY_MODULE(Norm);

// Numbers of a convolution whose result has the size of its input, but for the
// stride.
struct ConvOptions {
  int64_t kernel = 1, stride = 1, dilation = 1;
  bool bias = false;
};
nn::Conv2d convolution(int64_t in, int64_t out, const ConvOptions& o);

// A convolution with bias, named "0" as torchvision's Conv2dNormActivation
// names it, and relu if `active`.
nn::Sequential convolution_block(int64_t in, int64_t out, int64_t kernel,
                                 bool active);

// Renames `old` + suffix to `now` + suffix for both tensors of a layer: state
// dicts of older versions of torchvision have other names.
void rename_layer(nn::StateDict& state, const std::string& old,
                  const std::string& now);

}  // namespace vision
