#include "roi_heads.h"

#include <algorithm>
#include <cmath>

#include "vision.h"

namespace vision {
namespace {

// A box of so many pixels is read from the map at level 4, whose pixels are 16
// of the picture's.
constexpr double kCanonicalSize = 224;
constexpr double kCanonicalLevel = 4;

// Boxes with the number of their picture before them, as roi_align takes them.
Tensor rois_of(const std::vector<Tensor>& boxes) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Tensor image = sy::full({boxes[i].size(0), 1},
                                  static_cast<int64_t>(i), boxes[i].options());
    parts.push_back(sy::cat({image, boxes[i]}, 1));
  }
  return sy::cat(parts);
}

// What a pixel of the pictures is in the map: a power of two.
double scale_of(const Tensor& map, const std::vector<ImageSize>& sizes) {
  int64_t height = 0;
  for (const ImageSize& s : sizes) height = std::max(height, s.height);
  const auto scale = static_cast<float>(static_cast<double>(map.size(2)) /
                                        static_cast<double>(height));
  return std::exp2(std::nearbyint(std::log2(scale)));
}

}  // namespace

Tensor pooled(const std::vector<Tensor>& maps, const std::vector<Tensor>& boxes,
              const std::vector<ImageSize>& sizes, int64_t size,
              int64_t sampling_ratio) {
  SY_CHECK(maps.size() > 1, Value, "[pooled] maps: expected two, got {}",
           maps.size());
  const size_t n = maps.size() - 1;
  std::vector<double> scales;
  for (size_t m = 0; m < n; ++m) scales.push_back(scale_of(maps[m], sizes));
  const Tensor rois = rois_of(boxes);
  const Tensor side = areas(sy::cat(boxes)).sqrt();
  const double first = -std::log2(scales.front());
  const Tensor level = ((side / kCanonicalSize).log2() + kCanonicalLevel + 1e-6)
                           .floor()
                           .clamp(first, -std::log2(scales.back())) -
                       first;
  Tensor out =
      sy::zeros({rois.size(0), maps[0].size(1), size, size}, maps[0].options());
  for (size_t m = 0; m < n; ++m) {
    const Tensor at = places(level.eq(static_cast<int64_t>(m)));
    if (at.numel() == 0) continue;
    const Tensor part =
        torchvision::roi_align(maps[m], rois.index_select(0, at), scales[m],
                               size, size, sampling_ratio, /*aligned=*/false);
    out = out.index_copy(0, at, part);
  }
  return out;
}

RoiHeadsImpl::RoiHeadsImpl(int64_t channels, const RoiOptions& o)
    : options_(o) {
  box_head_ = register_module(
      "box_head",
      TwoMlpHead(channels * o.box_size * o.box_size, o.box_channels));
  box_predictor_ = register_module(
      "box_predictor", FastRcnnPredictor(o.box_channels, o.classes));
  mask_head_ =
      register_module("mask_head", MaskHead(channels, o.mask_channels));
  mask_predictor_ = register_module(
      "mask_predictor",
      MaskPredictor(o.mask_channels.back(), o.mask_reduced, o.classes));
}

Detections RoiHeadsImpl::choose(const Tensor& all_scores,
                                const Tensor& all_boxes, ImageSize size) const {
  constexpr double kLeastSide = 1e-2;
  const int64_t n = all_scores.size(0), classes = options_.classes;
  Detections d;
  d.boxes = clipped(all_boxes, size).narrow(1, 1, classes - 1).reshape({-1, 4});
  d.scores = all_scores.narrow(1, 1, classes - 1).reshape({-1});
  d.labels = sy::arange(1, classes,
                        sy::TensorOptions(sy::kLong).device(d.boxes.device()))
                 .expand({n, classes - 1})
                 .reshape({-1});
  const auto keep = [&](const Tensor& at) {
    d.boxes = d.boxes.index_select(0, at);
    d.scores = d.scores.index_select(0, at);
    d.labels = d.labels.index_select(0, at);
  };
  keep(places(d.scores.gt(options_.score_threshold)));
  keep(large_boxes(d.boxes, kLeastSide));
  const Tensor best =
      batched_nms(d.boxes, d.scores, d.labels, classes, options_.nms_threshold);
  keep(best.narrow(0, 0, std::min(best.size(0), options_.most)));
  return d;
}

std::vector<Detections> RoiHeadsImpl::forward(
    const std::vector<Tensor>& maps, const std::vector<Tensor>& proposals,
    const std::vector<ImageSize>& sizes) {
  const RoiOptions& o = options_;
  const FastRcnnPredictorImpl::Result said = box_predictor_(
      box_head_(pooled(maps, proposals, sizes, o.box_size, o.sampling_ratio)));
  const Tensor scores = said.scores.softmax(-1);
  const Tensor boxes =
      BoxCoder({10, 10, 5, 5}).decode(said.codes, sy::cat(proposals));
  std::vector<Detections> out;
  std::vector<Tensor> found, labels;
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t n = proposals[i].size(0);
    out.push_back(
        choose(scores.narrow(0, at, n), boxes.narrow(0, at, n), sizes[i]));
    found.push_back(out.back().boxes);
    labels.push_back(out.back().labels);
    at += n;
  }
  const Tensor logits = mask_predictor_(
      mask_head_(pooled(maps, found, sizes, o.mask_size, o.sampling_ratio)));
  // Of each detection the mask of its class.
  const Tensor which =
      sy::cat(labels)
          .view({-1, 1, 1, 1})
          .expand({logits.size(0), 1, logits.size(2), logits.size(3)});
  const Tensor masks = logits.sigmoid().gather(1, which);
  at = 0;
  for (Detections& d : out) {
    d.masks = masks.narrow(0, at, d.boxes.size(0));
    at += d.boxes.size(0);
  }
  return out;
}

Tensor pasted(const Tensor& masks, const Tensor& boxes, ImageSize picture) {
  const int64_t n = masks.size(0);
  const Tensor out =
      sy::zeros({n, 1, picture.height, picture.width}, masks.options());
  if (n == 0) return out;
  // One pixel more on each side, and boxes as much larger.
  const Tensor wide = sy::constant_pad_nd(masks, {1, 1, 1, 1}, 0);
  const auto m = static_cast<double>(masks.size(3));
  const auto column = [&](int64_t i) { return boxes.select(1, i); };
  const Tensor half_w = (column(2) - column(0)) * 0.5 * ((m + 2) / m);
  const Tensor half_h = (column(3) - column(1)) * 0.5 * ((m + 2) / m);
  const Tensor x = (column(2) + column(0)) * 0.5;
  const Tensor y = (column(3) + column(1)) * 0.5;
  const Tensor corners =
      sy::stack({x - half_w, y - half_h, x + half_w, y + half_h}, 1)
          .to(sy::kLong)
          .cpu()
          .contiguous();
  const auto* box = static_cast<const int64_t*>(corners.data_ptr());
  for (int64_t i = 0; i < n; ++i, box += 4) {
    const int64_t w = std::max<int64_t>(box[2] - box[0] + 1, 1);
    const int64_t h = std::max<int64_t>(box[3] - box[1] + 1, 1);
    const int64_t x0 = std::max<int64_t>(box[0], 0);
    const int64_t y0 = std::max<int64_t>(box[1], 0);
    const int64_t x1 = std::min(box[2] + 1, picture.width);
    const int64_t y1 = std::min(box[3] + 1, picture.height);
    if (x1 <= x0 || y1 <= y0) continue;
    const Tensor mask =
        sy::upsample_bilinear2d(wide.narrow(0, i, 1), {h, w}, false);
    out.narrow(0, i, 1)
        .narrow(2, y0, y1 - y0)
        .narrow(3, x0, x1 - x0)
        .copy_(mask.narrow(2, y0 - box[1], y1 - y0)
                   .narrow(3, x0 - box[0], x1 - x0));
  }
  return out;
}

}  // namespace vision
