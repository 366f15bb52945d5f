#pragma once

#include <array>
#include <vector>

#include "layers.h"

namespace vision {

struct ResNetOptions {
  std::array<int64_t, 4> blocks{3, 4, 6, 3};
  bool bottleneck = true;
  int64_t classes = 1000;  // 0: no scores, the network is a backbone
  // The last three layers widen their kernels in place of a stride.
  std::array<bool, 3> dilate{};
  NormOptions norm;

  // The channels of the last layer.
  int64_t channels() const { return bottleneck ? 2048 : 512; }
};

// Two 3x3 convolutions, or 1x1, 3x3, 1x1, around which the input goes.
struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(int64_t in, int64_t out, int64_t stride,
                 const NormOptions& norm);
  Tensor forward(const Tensor& x);

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  Norm bn1{nullptr}, bn2{nullptr};
  nn::Sequential downsample{nullptr};
};
SY_MODULE(BasicBlock);

struct BottleneckImpl : nn::Module {
  BottleneckImpl(int64_t in, int64_t width, int64_t stride, int64_t dilation,
                 const NormOptions& norm);
  Tensor forward(const Tensor& x);

  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  Norm bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
  nn::Sequential downsample{nullptr};
};
SY_MODULE(Bottleneck);

// A residual network with the names of torchvision's.
class ResNetImpl : public nn::Module {
 public:
  explicit ResNetImpl(const ResNetOptions& options);

  // Pictures [batch, 3, height, width] to scores [batch, classes].
  Tensor forward(const Tensor& pictures);
  // The results of the four layers, each smaller than the one before.
  std::vector<Tensor> features(const Tensor& pictures);

 private:
  nn::Sequential make_layer(const ResNetOptions& o, size_t i);

  int64_t in_ = 64, dilation_ = 1;
  nn::Conv2d conv1_{nullptr};
  Norm bn1_{nullptr};
  nn::Sequential layer1_{nullptr}, layer2_{nullptr}, layer3_{nullptr},
      layer4_{nullptr};
  nn::Linear fc_{nullptr};
};
SY_MODULE(ResNet);

// "resnet18", 34, 50, 101, 152; and "resnet10" and "resnet14", which have one
// block a layer and are for tests. Throws ValueError for others.
ResNetOptions resnet_options(const std::string& name);

}  // namespace vision
