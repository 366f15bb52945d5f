#include "maskrcnn.h"

#include <algorithm>
#include <cmath>

namespace vision {
namespace {

ImageSize size_of(const Tensor& picture) {
  return {picture.size(-2), picture.size(-1)};
}

// Pictures side by side in one tensor, with zeros below and at the right.
Tensor batched(const std::vector<Tensor>& pictures, int64_t divisible) {
  int64_t height = 0, width = 0;
  for (const Tensor& p : pictures) {
    height = std::max(height, p.size(1));
    width = std::max(width, p.size(2));
  }
  const auto up = [&](int64_t n) {
    return (n + divisible - 1) / divisible * divisible;
  };
  const Tensor out = sy::zeros(
      {static_cast<int64_t>(pictures.size()), 3, up(height), up(width)},
      pictures[0].options());
  for (size_t i = 0; i < pictures.size(); ++i) {
    const Tensor& p = pictures[i];
    out.select(0, static_cast<int64_t>(i))
        .narrow(1, 0, p.size(1))
        .narrow(2, 0, p.size(2))
        .copy_(p);
  }
  return out;
}

}  // namespace

Tensor RcnnTransform::prepared(const Tensor& picture) const {
  SY_CHECK(picture.dim() == 3 && picture.size(0) == 3, Value,
           "[MaskRcnn] picture: expected [3, height, width], got {}",
           picture.sizes());
  SY_CHECK(picture.is_floating_point(), Type,
           "[MaskRcnn] picture: expected a floating dtype, got {}",
           picture.dtype());
  const auto channels = [&](const std::vector<float>& numbers) {
    return sy::tensor(numbers).view({3, 1, 1}).to(picture.device(),
                                                  picture.scalar_type());
  };
  const Tensor normal = (picture - channels(mean)) / channels(std);
  const ImageSize size = size_of(picture);
  const double scale =
      std::min(static_cast<double>(min_size) /
                   static_cast<double>(std::min(size.height, size.width)),
               static_cast<double>(max_size) /
                   static_cast<double>(std::max(size.height, size.width)));
  const auto scaled = [&](int64_t n) {
    return static_cast<int64_t>(std::floor(static_cast<double>(n) * scale));
  };
  return sy::upsample_bilinear2d(normal.unsqueeze(0),
                                 {scaled(size.height), scaled(size.width)},
                                 /*align_corners=*/false)
      .select(0, 0);
}

MaskRcnnImpl::MaskRcnnImpl(const MaskRcnnOptions& o) : transform_(o.transform) {
  backbone_ =
      register_module("backbone", BackboneWithFpn(o.backbone, o.channels));
  rpn_ = register_module("rpn",
                         RegionProposalNetwork(o.channels, o.anchors, o.rpn));
  roi_heads_ = register_module("roi_heads", RoiHeads(o.channels, o.roi));
}

std::vector<Detections> MaskRcnnImpl::forward(
    const std::vector<Tensor>& pictures) {
  SY_CHECK(!is_training(), NotImplemented,
           "[MaskRcnn] forward: expected eval(), got a model in training");
  SY_CHECK(!pictures.empty(), Value,
           "[MaskRcnn] pictures: expected some, got none");
  std::vector<Tensor> prepared;
  std::vector<ImageSize> sizes;
  for (const Tensor& p : pictures) {
    prepared.push_back(transform_.prepared(p));
    sizes.push_back(size_of(prepared.back()));
  }
  const Tensor batch = batched(prepared, transform_.divisible);
  const std::vector<Tensor> maps = backbone_(batch);
  const std::vector<Tensor> proposals = rpn_(maps, size_of(batch), sizes);
  std::vector<Detections> out = roi_heads_(maps, proposals, sizes);
  for (size_t i = 0; i < out.size(); ++i) {
    const ImageSize whole = size_of(pictures[i]);
    out[i].boxes = resized_boxes(out[i].boxes, sizes[i], whole);
    out[i].masks = pasted(out[i].masks, out[i].boxes, whole);
  }
  return out;
}

}  // namespace vision
