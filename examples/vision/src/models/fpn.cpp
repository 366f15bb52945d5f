#include "fpn.h"

namespace vision {

FeaturePyramidNetworkImpl::FeaturePyramidNetworkImpl(
    const std::vector<int64_t>& in, int64_t out) {
  const nn::ModuleList inner, layers;
  for (const int64_t channels : in) {
    inner_.push_back(convolution_block(channels, out, 1, /*active=*/false));
    layers_.push_back(convolution_block(out, out, 3, /*active=*/false));
    inner->push_back(inner_.back());
    layers->push_back(layers_.back());
  }
  register_module("inner_blocks", inner);
  register_module("layer_blocks", layers);
}

std::vector<Tensor> FeaturePyramidNetworkImpl::forward(
    const std::vector<Tensor>& maps) {
  SY_CHECK(maps.size() == inner_.size(), Value,
           "[FeaturePyramidNetwork] maps: expected {}, got {}", inner_.size(),
           maps.size());
  std::vector<Tensor> out(maps.size());
  Tensor last;
  for (size_t i = maps.size(); i-- > 0;) {
    Tensor own = inner_[i](maps[i]);
    if (last.defined()) {
      own = own + sy::upsample_nearest2d(last, own.sizes().slice(2, 2));
    }
    last = own;
    out[i] = layers_[i](last);
  }
  out.push_back(sy::max_pool2d(out.back(), 1, 2));
  return out;
}

void FeaturePyramidNetworkImpl::upgrade_state_dict(nn::StateDict& state,
                                                   const std::string& prefix,
                                                   int64_t found) const {
  if (found >= 2) return;
  for (size_t i = 0; i < inner_.size(); ++i) {
    for (const char* const list : {"inner_blocks.", "layer_blocks."}) {
      const std::string name = prefix + list + std::to_string(i);
      rename_layer(state, name, name + ".0");
    }
  }
}

BackboneWithFpnImpl::BackboneWithFpnImpl(const ResNetOptions& body,
                                         int64_t channels) {
  ResNetOptions o = body;
  o.classes = 0;
  body_ = register_module("body", ResNet(o));
  const int64_t last = o.channels();
  fpn_ = register_module(
      "fpn",
      FeaturePyramidNetwork(
          std::vector<int64_t>{last / 8, last / 4, last / 2, last}, channels));
}

std::vector<Tensor> BackboneWithFpnImpl::forward(const Tensor& pictures) {
  return fpn_(body_->features(pictures));
}

}  // namespace vision
