#include "boxes.h"

#include <cmath>

#include "vision.h"

namespace vision {
namespace {

// Column i of the last dim.
Tensor column(const Tensor& boxes, int64_t i) { return boxes.select(-1, i); }

struct Centres {
  Tensor width, height, x, y;

  explicit Centres(const Tensor& boxes)
      : width(column(boxes, 2) - column(boxes, 0)),
        height(column(boxes, 3) - column(boxes, 1)),
        x(column(boxes, 0) + width * 0.5),
        y(column(boxes, 1) + height * 0.5) {}
};

// Beyond so many elements torchvision goes group by group.
constexpr int64_t kManyElements = 4000;

}  // namespace

Tensor places(const Tensor& condition) {
  return sy::nonzero(condition).select(1, 0);
}

Tensor areas(const Tensor& boxes) {
  return (column(boxes, 2) - column(boxes, 0)) *
         (column(boxes, 3) - column(boxes, 1));
}

Tensor clipped(const Tensor& boxes, ImageSize image) {
  const auto x = [&](int64_t i) {
    return column(boxes, i).clamp(0, image.width);
  };
  const auto y = [&](int64_t i) {
    return column(boxes, i).clamp(0, image.height);
  };
  return sy::stack({x(0), y(1), x(2), y(3)}, -1);
}

Tensor large_boxes(const Tensor& boxes, double least) {
  const Centres c(boxes);
  return places(c.width.ge(least).logical_and(c.height.ge(least)));
}

Tensor resized_boxes(const Tensor& boxes, ImageSize from, ImageSize to) {
  const auto ratio = [](int64_t a, int64_t b) {
    return static_cast<float>(a) / static_cast<float>(b);
  };
  const float x = ratio(to.width, from.width);
  const float y = ratio(to.height, from.height);
  return sy::stack({column(boxes, 0) * x, column(boxes, 1) * y,
                    column(boxes, 2) * x, column(boxes, 3) * y},
                   1);
}

Tensor batched_nms(const Tensor& boxes, const Tensor& scores,
                   const Tensor& group, int64_t groups, double threshold) {
  if (boxes.size(0) == 0) return group;
  if (boxes.numel() <= kManyElements) {
    // Far apart, boxes of two groups do not meet.
    const Tensor step = boxes.max() + 1;
    const Tensor shift = group.to(boxes.scalar_type()) * step;
    return torchvision::nms(boxes + shift.unsqueeze(1), scores, threshold);
  }
  std::vector<Tensor> kept;
  for (int64_t g = 0; g < groups; ++g) {
    const Tensor at = places(group.eq(g));
    if (at.numel() == 0) continue;
    kept.push_back(at.index_select(
        0, torchvision::nms(boxes.index_select(0, at),
                            scores.index_select(0, at), threshold)));
  }
  // In the order of places where scores are equal.
  const Tensor all = std::get<0>(sy::cat(kept).sort());
  const Tensor order =
      std::get<1>(scores.index_select(0, all).sort(/*stable=*/true, 0, true));
  return all.index_select(0, order);
}

Tensor BoxCoder::decode(const Tensor& codes, const Tensor& boxes) const {
  const double most = std::log(1000. / 16);
  const Tensor k = codes.reshape({boxes.size(0), codes.size(1) / 4, 4});
  const Centres from(boxes.to(codes.scalar_type()));
  const auto part = [&](int64_t i) {
    return column(k, i) / weights_[static_cast<size_t>(i)];
  };
  const Tensor width = from.width.unsqueeze(1);
  const Tensor height = from.height.unsqueeze(1);
  const Tensor x = part(0) * width + from.x.unsqueeze(1);
  const Tensor y = part(1) * height + from.y.unsqueeze(1);
  const Tensor half_w = part(2).clamp_max(most).exp() * width * 0.5;
  const Tensor half_h = part(3).clamp_max(most).exp() * height * 0.5;
  return sy::stack({x - half_w, y - half_h, x + half_w, y + half_h}, 2);
}

Tensor BoxCoder::encode(const Tensor& wanted, const Tensor& boxes) const {
  const Centres to(wanted), from(boxes);
  return sy::stack({(to.x - from.x) / from.width * weights_[0],
                    (to.y - from.y) / from.height * weights_[1],
                    (to.width / from.width).log() * weights_[2],
                    (to.height / from.height).log() * weights_[3]},
                   1);
}

}  // namespace vision
