#include "rpn.h"

#include <algorithm>
#include <cmath>

namespace vision {

int64_t AnchorGenerator::at_a_place() const {
  return static_cast<int64_t>(sizes.at(0).size() * ratios.size());
}

Tensor AnchorGenerator::boxes(size_t map, const Tensor& like,
                              ImageSize batch) const {
  SY_CHECK(map < sizes.size(), Value,
           "[AnchorGenerator] sizes: expected a list for each map, got {}",
           sizes.size());
  std::vector<float> shapes;
  for (const double ratio : ratios) {
    const float h = std::sqrt(static_cast<float>(ratio));
    const float w = 1 / h;
    for (const double size : sizes[map]) {
      const float x = w * static_cast<float>(size);
      const float y = h * static_cast<float>(size);
      for (const float side : {-x, -y, x, y}) {
        shapes.push_back(std::nearbyint(side / 2));
      }
    }
  }
  const Tensor around = sy::tensor(shapes).view({1, -1, 4}).to(like.device());
  const int64_t height = like.size(2), width = like.size(3);
  const auto line = [&](int64_t n, int64_t step) {
    return sy::arange(n, sy::TensorOptions(sy::kFloat).device(like.device())) *
           step;
  };
  const Tensor y = line(height, batch.height / height)
                       .view({-1, 1})
                       .expand({height, width})
                       .reshape({-1});
  const Tensor x = line(width, batch.width / width)
                       .view({1, -1})
                       .expand({height, width})
                       .reshape({-1});
  const Tensor at = sy::stack({x, y, x, y}, 1).view({-1, 1, 4});
  return (at + around).reshape({-1, 4}).to(like.scalar_type());
}

RpnHeadImpl::RpnHeadImpl(int64_t channels, int64_t anchors) {
  conv_ =
      register_module("conv", nn::Sequential(nn::AnyModule(convolution_block(
                                  channels, channels, 3, /*active=*/true))));
  cls_logits_ = register_module("cls_logits",
                                convolution(channels, anchors, {.bias = true}));
  bbox_pred_ = register_module(
      "bbox_pred", convolution(channels, 4 * anchors, {.bias = true}));
}

RpnHeadImpl::Result RpnHeadImpl::forward(const Tensor& map) {
  const Tensor x = conv_(map);
  return {cls_logits_(x), bbox_pred_(x)};
}

void RpnHeadImpl::upgrade_state_dict(nn::StateDict& state,
                                     const std::string& prefix,
                                     int64_t found) const {
  if (found < 2) rename_layer(state, prefix + "conv", prefix + "conv.0.0");
}

RegionProposalNetworkImpl::RegionProposalNetworkImpl(
    int64_t channels, const AnchorGenerator& anchors, const RpnOptions& options)
    : anchors_(anchors), options_(options) {
  head_ = register_module("head", RpnHead(channels, anchors.at_a_place()));
}

Tensor RegionProposalNetworkImpl::choose(const Candidates& all, ImageSize size,
                                         int64_t maps) const {
  constexpr double kLeastSide = 1e-3;
  Tensor boxes = clipped(all.boxes, size);
  Tensor scores = all.scores.sigmoid(), map = all.map;
  const auto keep = [&](const Tensor& at) {
    boxes = boxes.index_select(0, at);
    scores = scores.index_select(0, at);
    map = map.index_select(0, at);
  };
  keep(large_boxes(boxes, kLeastSide));
  keep(places(scores.ge(options_.score_threshold)));
  const Tensor best =
      batched_nms(boxes, scores, map, maps, options_.nms_threshold);
  return boxes.index_select(
      0, best.narrow(0, 0, std::min(best.size(0), options_.after_nms)));
}

std::vector<Tensor> RegionProposalNetworkImpl::forward(
    const std::vector<Tensor>& maps, ImageSize batch,
    const std::vector<ImageSize>& sizes) {
  // Of each picture, from each map, the best.
  std::vector<std::vector<Tensor>> boxes(sizes.size()), scores(sizes.size()),
      levels(sizes.size());
  const BoxCoder coder({1, 1, 1, 1});
  for (size_t m = 0; m < maps.size(); ++m) {
    const RpnHeadImpl::Result said = head_(maps[m]);
    const int64_t n = maps[m].size(0);
    const Tensor objectness =
        said.objectness.detach().permute({0, 2, 3, 1}).reshape({n, -1});
    // The four numbers of an anchor lie together.
    const Tensor codes =
        said.codes.detach().permute({0, 2, 3, 1}).reshape({n, -1, 4});
    const Tensor anchors = anchors_.boxes(m, maps[m], batch);
    const int64_t most = std::min(options_.before_nms, objectness.size(1));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto image = static_cast<int64_t>(i);
      const auto [best, at] = objectness.select(0, image).topk(most);
      scores[i].push_back(best);
      boxes[i].push_back(coder
                             .decode(codes.select(0, image).index_select(0, at),
                                     anchors.index_select(0, at))
                             .select(1, 0));
      levels[i].push_back(sy::full_like(at, static_cast<int64_t>(m)));
    }
  }
  std::vector<Tensor> out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    out.push_back(
        choose({sy::cat(boxes[i]), sy::cat(scores[i]), sy::cat(levels[i])},
               sizes[i], static_cast<int64_t>(maps.size())));
  }
  return out;
}

}  // namespace vision
