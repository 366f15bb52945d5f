#pragma once

#include <vector>

#include "resnet.h"

namespace vision {

// A feature pyramid: maps of several sizes, largest first, to maps of one
// number of channels, of which each knows what the smaller ones say; and one
// more, of every second place of the last.
class FeaturePyramidNetworkImpl : public nn::Module {
 public:
  FeaturePyramidNetworkImpl(const std::vector<int64_t>& in, int64_t out);
  std::vector<Tensor> forward(const std::vector<Tensor>& maps);
  int64_t version() const override { return 2; }

 protected:
  void upgrade_state_dict(nn::StateDict& state, const std::string& prefix,
                          int64_t found) const override;

 private:
  std::vector<nn::Sequential> inner_, layers_;
};
SY_MODULE(FeaturePyramidNetwork);

// A residual network, "body", with a pyramid on it, "fpn".
class BackboneWithFpnImpl : public nn::Module {
 public:
  BackboneWithFpnImpl(const ResNetOptions& body, int64_t channels);
  std::vector<Tensor> forward(const Tensor& pictures);

 private:
  ResNet body_{nullptr};
  FeaturePyramidNetwork fpn_{nullptr};
};
SY_MODULE(BackboneWithFpn);

}  // namespace vision
