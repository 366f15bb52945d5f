#include "deeplabv3.h"

namespace vision {
namespace {

constexpr int64_t kInner = 256;
constexpr int64_t kRates[] = {12, 24, 36};

Tensor resized(const Tensor& x, sy::IntArrayRef size) {
  return sy::upsample_bilinear2d(x, size, /*align_corners=*/false);
}

// A branch that sees the whole picture at once: the layers are those of a
// Sequential, whose result is stretched.
nn::Sequential pooling(int64_t in, int64_t out) {
  return nn::Sequential(
      nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 1})),
      convolution(in, out, {}), Norm(out), nn::ReLU());
}

nn::Sequential head(int64_t in, int64_t classes) {
  return nn::Sequential(
      Aspp(in, kInner), convolution(kInner, kInner, {.kernel = 3}),
      Norm(kInner), nn::ReLU(), convolution(kInner, classes, {.bias = true}));
}

nn::Sequential plain_head(int64_t in, int64_t classes) {
  return nn::Sequential(convolution(in, in / 4, {.kernel = 3}), Norm(in / 4),
                        nn::ReLU(), nn::Dropout(0.1),
                        convolution(in / 4, classes, {.bias = true}));
}

}  // namespace

AsppImpl::AsppImpl(int64_t in, int64_t out) {
  const nn::ModuleList list;
  const auto add = [&](const nn::Sequential& branch) {
    list->push_back(branch);
    convs_.push_back(branch);
  };
  add(nn::Sequential(convolution(in, out, {}), Norm(out), nn::ReLU()));
  for (const int64_t rate : kRates) {
    add(nn::Sequential(convolution(in, out, {.kernel = 3, .dilation = rate}),
                       Norm(out), nn::ReLU()));
  }
  add(pooling(in, out));
  register_module("convs", list);
  project_ = register_module(
      "project",
      nn::Sequential(
          convolution(static_cast<int64_t>(convs_.size()) * out, out, {}),
          Norm(out), nn::ReLU(), nn::Dropout(0.5)));
}

Tensor AsppImpl::forward(const Tensor& x) {
  std::vector<Tensor> parts;
  for (const nn::Sequential& conv : convs_) parts.push_back(conv(x));
  parts.back() = resized(parts.back(), x.sizes().slice(2, 2));
  return project_(sy::cat(parts, 1));
}

DeepLabV3Impl::DeepLabV3Impl(const DeepLabV3Options& options) {
  ResNetOptions body = options.backbone;
  body.classes = 0;
  body.dilate = {false, true, true};
  backbone_ = register_module("backbone", ResNet(body));
  classifier_ =
      register_module("classifier", head(body.channels(), options.classes));
  if (options.aux) {
    aux_classifier_ = register_module(
        "aux_classifier", plain_head(body.channels() / 2, options.classes));
  }
}

DeepLabV3Impl::Scores DeepLabV3Impl::scores(const Tensor& pictures) {
  const std::vector<Tensor> features = backbone_->features(pictures);
  const auto size = pictures.sizes().slice(2, 2);
  Scores out;
  out.out = resized(classifier_(features[3]), size);
  if (aux_classifier_) out.aux = resized(aux_classifier_(features[2]), size);
  return out;
}

Tensor DeepLabV3Impl::forward(const Tensor& pictures) {
  return resized(classifier_(backbone_->features(pictures)[3]),
                 pictures.sizes().slice(2, 2));
}

}  // namespace vision
