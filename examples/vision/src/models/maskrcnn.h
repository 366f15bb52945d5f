#pragma once

#include <vector>

#include "fpn.h"
#include "roi_heads.h"
#include "rpn.h"

namespace vision {

// How pictures are prepared: normalised, and resized so that the short side is
// min_size unless the long one would be more than max_size.
struct RcnnTransform {
  int64_t min_size = 800, max_size = 1333, divisible = 32;
  std::vector<float> mean{0.485F, 0.456F, 0.406F};
  std::vector<float> std{0.229F, 0.224F, 0.225F};

  Tensor prepared(const Tensor& picture) const;
};

struct MaskRcnnOptions {
  ResNetOptions backbone = resnet_options("resnet50");
  int64_t channels = 256;  // of the pyramid
  AnchorGenerator anchors;
  RpnOptions rpn;
  RoiOptions roi;
  RcnnTransform transform;
};

// maskrcnn_resnet50_fpn, for inference, with the names of torchvision's.
// Weights that were published with it want backbone.norm = {.frozen = true,
// .eps = 0}.
class MaskRcnnImpl : public nn::Module {
 public:
  explicit MaskRcnnImpl(const MaskRcnnOptions& options = {});
  // What is in each picture [3, height, width], whose numbers are 0 to 1.
  std::vector<Detections> forward(const std::vector<Tensor>& pictures);

 private:
  RcnnTransform transform_;
  BackboneWithFpn backbone_{nullptr};
  RegionProposalNetwork rpn_{nullptr};
  RoiHeads roi_heads_{nullptr};
};
SY_MODULE(MaskRcnn);

}  // namespace vision
