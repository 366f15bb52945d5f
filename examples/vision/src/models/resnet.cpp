#include "resnet.h"

namespace vision {
namespace {

// What goes around a block whose result has other sizes.
nn::Sequential shortcut(int64_t in, int64_t out, int64_t stride,
                        const NormOptions& norm) {
  if (stride == 1 && in == out) return nullptr;
  return nn::Sequential(convolution(in, out, {.stride = stride}),
                        Norm(out, norm));
}

Tensor around(const nn::Sequential& downsample, const Tensor& x) {
  return downsample ? downsample(x) : x;
}

}  // namespace

BasicBlockImpl::BasicBlockImpl(int64_t in, int64_t out, int64_t stride,
                               const NormOptions& norm) {
  conv1 = register_module(
      "conv1", convolution(in, out, {.kernel = 3, .stride = stride}));
  bn1 = register_module("bn1", Norm(out, norm));
  conv2 = register_module("conv2", convolution(out, out, {.kernel = 3}));
  bn2 = register_module("bn2", Norm(out, norm));
  downsample = shortcut(in, out, stride, norm);
  if (downsample) register_module("downsample", downsample);
}

Tensor BasicBlockImpl::forward(const Tensor& x) {
  const Tensor y = bn1(conv1(x)).relu();
  return bn2(conv2(y)).add_(around(downsample, x)).relu_();
}

BottleneckImpl::BottleneckImpl(int64_t in, int64_t width, int64_t stride,
                               int64_t dilation, const NormOptions& norm) {
  const int64_t out = 4 * width;
  conv1 = register_module("conv1", convolution(in, width, {}));
  bn1 = register_module("bn1", Norm(width, norm));
  conv2 = register_module(
      "conv2",
      convolution(width, width,
                  {.kernel = 3, .stride = stride, .dilation = dilation}));
  bn2 = register_module("bn2", Norm(width, norm));
  conv3 = register_module("conv3", convolution(width, out, {}));
  bn3 = register_module("bn3", Norm(out, norm));
  downsample = shortcut(in, out, stride, norm);
  if (downsample) register_module("downsample", downsample);
}

Tensor BottleneckImpl::forward(const Tensor& x) {
  const Tensor y = bn2(conv2(bn1(conv1(x)).relu())).relu();
  return bn3(conv3(y)).add_(around(downsample, x)).relu_();
}

ResNetImpl::ResNetImpl(const ResNetOptions& o) {
  conv1_ =
      register_module("conv1", convolution(3, in_, {.kernel = 7, .stride = 2}));
  bn1_ = register_module("bn1", Norm(in_, o.norm));
  layer1_ = register_module("layer1", make_layer(o, 0));
  layer2_ = register_module("layer2", make_layer(o, 1));
  layer3_ = register_module("layer3", make_layer(o, 2));
  layer4_ = register_module("layer4", make_layer(o, 3));
  if (o.classes > 0) {
    fc_ = register_module("fc", nn::Linear(o.channels(), o.classes));
  }
}

nn::Sequential ResNetImpl::make_layer(const ResNetOptions& o, size_t i) {
  const int64_t width = int64_t{64} << i;
  int64_t stride = i == 0 ? 1 : 2;
  // The first block has the dilation of the layer before.
  int64_t dilation = dilation_;
  if (i > 0 && o.dilate[i - 1]) {
    dilation_ *= stride;
    stride = 1;
  }
  SY_CHECK(o.bottleneck || dilation_ == 1, Value,
           "[ResNet] dilate: expected blocks with bottlenecks");
  nn::Sequential layer;
  for (int64_t b = 0; b < o.blocks[i]; ++b) {
    if (o.bottleneck) {
      layer->push_back(Bottleneck(in_, width, stride, dilation, o.norm));
    } else {
      layer->push_back(BasicBlock(in_, width, stride, o.norm));
    }
    in_ = o.bottleneck ? 4 * width : width;
    stride = 1;
    dilation = dilation_;
  }
  return layer;
}

std::vector<Tensor> ResNetImpl::features(const Tensor& pictures) {
  const Tensor x = bn1_(conv1_(pictures)).relu_();
  std::vector<Tensor> out{layer1_(sy::max_pool2d(x, 3, 2, 1))};
  for (const nn::Sequential& layer : {layer2_, layer3_, layer4_}) {
    out.push_back(layer(out.back()));
  }
  return out;
}

Tensor ResNetImpl::forward(const Tensor& pictures) {
  SY_CHECK(fc_, Value, "[ResNet] classes: expected some, got a backbone");
  const Tensor last = features(pictures).back();
  return fc_(sy::adaptive_avg_pool2d(last, {1, 1}).flatten(1));
}

ResNetOptions resnet_options(const std::string& name) {
  struct Row {
    const char* name;
    std::array<int64_t, 4> blocks;
    bool bottleneck;
  };
  constexpr Row kRows[] = {
      {"resnet10", {1, 1, 1, 1}, false}, {"resnet14", {1, 1, 1, 1}, true},
      {"resnet18", {2, 2, 2, 2}, false}, {"resnet34", {3, 4, 6, 3}, false},
      {"resnet50", {3, 4, 6, 3}, true},  {"resnet101", {3, 4, 23, 3}, true},
      {"resnet152", {3, 8, 36, 3}, true}};
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    ResNetOptions o;
    o.blocks = row.blocks;
    o.bottleneck = row.bottleneck;
    return o;
  }
  sy::fail(sy::ErrorKind::Value,
           "[resnet] name: expected resnet18, 34, 50, 101 or 152, got '{}'",
           name);
}

}  // namespace vision
