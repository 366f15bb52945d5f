#pragma once

#include <vector>

#include "boxes.h"
#include "layers.h"

namespace vision {

// What was found in a picture, best first. Masks are [n, 1, height, width],
// how sure each pixel is; undefined if nobody asked for them.
struct Detections {
  Tensor boxes, labels, scores, masks;
};

struct RoiOptions {
  int64_t classes = 91;  // 0 is none of them
  double score_threshold = 0.05, nms_threshold = 0.5;
  int64_t most = 100;  // detections in a picture
  int64_t box_size = 7, mask_size = 14, sampling_ratio = 2;
  int64_t box_channels = 1024;
  std::vector<int64_t> mask_channels{256, 256, 256, 256};
  int64_t mask_reduced = 256;
};

// roi_align of each box from the map whose pixels suit its size. All maps but
// the last one are used.
Tensor pooled(const std::vector<Tensor>& maps, const std::vector<Tensor>& boxes,
              const std::vector<ImageSize>& sizes, int64_t size,
              int64_t sampling_ratio);

// Two linear layers, fc6 and fc7.
class TwoMlpHeadImpl : public nn::Module {
 public:
  TwoMlpHeadImpl(int64_t in, int64_t out);
  Tensor forward(const Tensor& x);

 private:
  nn::Linear fc6_{nullptr}, fc7_{nullptr};
};
SY_MODULE(TwoMlpHead);

// Scores of classes, and codes of a box for each.
class FastRcnnPredictorImpl : public nn::Module {
 public:
  FastRcnnPredictorImpl(int64_t in, int64_t classes);
  struct Result {
    Tensor scores, codes;
  };
  Result forward(const Tensor& x);

 private:
  nn::Linear cls_score_{nullptr}, bbox_pred_{nullptr};
};
SY_MODULE(FastRcnnPredictor);

// Convolutions that keep the size.
class MaskHeadImpl : public nn::SequentialImpl {
 public:
  MaskHeadImpl(int64_t in, const std::vector<int64_t>& channels);
  int64_t version() const override { return 2; }

 protected:
  void upgrade_state_dict(nn::StateDict& state, const std::string& prefix,
                          int64_t found) const override;
};
SY_MODULE(MaskHead);

// Twice as large: a mask for each class.
class MaskPredictorImpl : public nn::Module {
 public:
  MaskPredictorImpl(int64_t in, int64_t reduced, int64_t classes);
  Tensor forward(const Tensor& x);

 private:
  nn::ConvTranspose2d conv5_mask_{nullptr};
  nn::Conv2d mask_fcn_logits_{nullptr};
};
SY_MODULE(MaskPredictor);

// Says of each proposed box what it is, and which of its pixels belong to it.
class RoiHeadsImpl : public nn::Module {
 public:
  RoiHeadsImpl(int64_t channels, const RoiOptions& options);
  // Masks are those of boxes, [n, 1, 28, 28]: `pasted` puts them in a picture.
  std::vector<Detections> forward(const std::vector<Tensor>& maps,
                                  const std::vector<Tensor>& proposals,
                                  const std::vector<ImageSize>& sizes);

 private:
  Detections choose(const Tensor& scores, const Tensor& boxes,
                    ImageSize size) const;

  RoiOptions options_;
  TwoMlpHead box_head_{nullptr};
  FastRcnnPredictor box_predictor_{nullptr};
  MaskHead mask_head_{nullptr};
  MaskPredictor mask_predictor_{nullptr};
};
SY_MODULE(RoiHeads);

// Masks of boxes in pictures of a size: zero outside of the box.
Tensor pasted(const Tensor& masks, const Tensor& boxes, ImageSize picture);

}  // namespace vision
