#pragma once

#include <vector>

#include "boxes.h"
#include "layers.h"

namespace vision {

// Boxes of several shapes around each place of each map: their sizes and ratios
// of height to width, one list of sizes for each map.
struct AnchorGenerator {
  std::vector<std::vector<double>> sizes{{32}, {64}, {128}, {256}, {512}};
  std::vector<double> ratios{0.5, 1, 2};

  // How many there are at a place.
  int64_t at_a_place() const;
  // The anchors [n, 4] of one map: for each place, row by row, all shapes.
  // `batch` is the size of the pictures that the map was made of.
  Tensor boxes(size_t map, const Tensor& like, ImageSize batch) const;
};

struct RpnOptions {
  int64_t before_nms = 1000, after_nms = 1000;  // boxes, of a map, of a picture
  double nms_threshold = 0.7, score_threshold = 0;
};

// The network that says of each anchor whether it is an object, and where.
class RpnHeadImpl : public nn::Module {
 public:
  RpnHeadImpl(int64_t channels, int64_t anchors);
  struct Result {
    Tensor objectness;  // [batch, anchors, height, width]
    Tensor codes;       // [batch, 4 * anchors, height, width]
  };
  Result forward(const Tensor& map);
  int64_t version() const override { return 2; }

 protected:
  void upgrade_state_dict(nn::StateDict& state, const std::string& prefix,
                          int64_t found) const override;

 private:
  nn::Sequential conv_{nullptr};
  nn::Conv2d cls_logits_{nullptr}, bbox_pred_{nullptr};
};
SY_MODULE(RpnHead);

// A region proposal network: boxes of a picture that may be objects.
class RegionProposalNetworkImpl : public nn::Module {
 public:
  RegionProposalNetworkImpl(int64_t channels, const AnchorGenerator& anchors,
                            const RpnOptions& options);
  // The boxes [n, 4] of each picture, best first. `batch` is the size of the
  // pictures together, `sizes` those of each.
  std::vector<Tensor> forward(const std::vector<Tensor>& maps, ImageSize batch,
                              const std::vector<ImageSize>& sizes);

 private:
  struct Candidates {
    Tensor boxes, scores, map;  // of one picture
  };
  Tensor choose(const Candidates& all, ImageSize size, int64_t maps) const;

  AnchorGenerator anchors_;
  RpnOptions options_;
  RpnHead head_{nullptr};
};
SY_MODULE(RegionProposalNetwork);

}  // namespace vision
