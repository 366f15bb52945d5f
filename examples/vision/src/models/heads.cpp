#include "roi_heads.h"

namespace vision {

TwoMlpHeadImpl::TwoMlpHeadImpl(int64_t in, int64_t out) {
  fc6_ = register_module("fc6", nn::Linear(in, out));
  fc7_ = register_module("fc7", nn::Linear(out, out));
}

Tensor TwoMlpHeadImpl::forward(const Tensor& x) {
  return fc7_(fc6_(x.flatten(1)).relu()).relu();
}

FastRcnnPredictorImpl::FastRcnnPredictorImpl(int64_t in, int64_t classes) {
  cls_score_ = register_module("cls_score", nn::Linear(in, classes));
  bbox_pred_ = register_module("bbox_pred", nn::Linear(in, 4 * classes));
}

FastRcnnPredictorImpl::Result FastRcnnPredictorImpl::forward(const Tensor& x) {
  return {cls_score_(x), bbox_pred_(x)};
}

MaskHeadImpl::MaskHeadImpl(int64_t in, const std::vector<int64_t>& channels) {
  for (const int64_t out : channels) {
    push_back(convolution_block(in, out, 3, /*active=*/true));
    in = out;
  }
}

void MaskHeadImpl::upgrade_state_dict(nn::StateDict& state,
                                      const std::string& prefix,
                                      int64_t found) const {
  if (found >= 2) return;
  for (size_t i = 0; i < size(); ++i) {
    rename_layer(state, prefix + "mask_fcn" + std::to_string(i + 1),
                 prefix + std::to_string(i) + ".0");
  }
}

MaskPredictorImpl::MaskPredictorImpl(int64_t in, int64_t reduced,
                                     int64_t classes) {
  conv5_mask_ = register_module(
      "conv5_mask", nn::ConvTranspose2d(
                        nn::ConvTranspose2dOptions(in, reduced, 2).stride(2)));
  mask_fcn_logits_ = register_module(
      "mask_fcn_logits", convolution(reduced, classes, {.bias = true}));
}

Tensor MaskPredictorImpl::forward(const Tensor& x) {
  return mask_fcn_logits_(conv5_mask_(x).relu());
}

}  // namespace vision
