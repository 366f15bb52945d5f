#pragma once

#include <vector>

#include "resnet.h"

namespace vision {

struct DeepLabV3Options {
  ResNetOptions backbone = resnet_options("resnet101");
  int64_t classes = 21;
  bool aux = true;  // a second head, on the layer before the last
};

// Convolutions of several widths side by side, and one of their results.
class AsppImpl : public nn::Module {
 public:
  AsppImpl(int64_t in, int64_t out);
  Tensor forward(const Tensor& x);

 private:
  std::vector<nn::Sequential> convs_;
  nn::Sequential project_{nullptr};
};
SY_MODULE(Aspp);

// deeplabv3_resnet*: pictures [batch, 3, height, width] to scores [batch,
// classes, height, width], with the names of torchvision's.
class DeepLabV3Impl : public nn::Module {
 public:
  explicit DeepLabV3Impl(const DeepLabV3Options& options = {});
  Tensor forward(const Tensor& pictures);

  struct Scores {
    Tensor out, aux;  // aux may be undefined
  };
  Scores scores(const Tensor& pictures);

 private:
  ResNet backbone_{nullptr};
  nn::Sequential classifier_{nullptr}, aux_classifier_{nullptr};
};
SY_MODULE(DeepLabV3);

}  // namespace vision
