#include "frontend/nn/modules/loss.h"

#include "frontend/nn/functional/loss.h"

namespace sy::nn {

namespace detail {

Tensor put_weight(Module& module, const char* name, const Tensor& given) {
  const bool as_is = !given.defined() || given.requires_grad();
  return module.set_buffer(name, as_is ? given : given.detach());
}

}  // namespace detail

namespace {

void check_margin(const char* module, double margin) {
  SY_CHECK(margin > 0, Value, "[{}] margin: expected more than 0, got {}",
           module, Scalar(margin));
}

}  // namespace

Tensor L1LossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::l1_loss(input, target, options);
}

Tensor MSELossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::mse_loss(input, target, options);
}

SmoothL1LossImpl::SmoothL1LossImpl(SmoothL1LossOptions options)
    : WithOptions(options) {
  SmoothL1LossImpl::reset();
}

void SmoothL1LossImpl::reset() {
  const double beta = options.beta().value_or(1.0);
  SY_CHECK(beta >= 0, Value, "[SmoothL1Loss] beta: expected at least 0, got {}",
           Scalar(beta));
}

Tensor SmoothL1LossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::smooth_l1_loss(input, target, options);
}

HuberLossImpl::HuberLossImpl(HuberLossOptions options) : WithOptions(options) {
  HuberLossImpl::reset();
}

void HuberLossImpl::reset() {
  SY_CHECK(options.delta() > 0, Value,
           "[HuberLoss] delta: expected more than 0, got {}",
           Scalar(options.delta()));
}

Tensor HuberLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::huber_loss(input, target, options);
}

Tensor KLDivLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::kl_div(input, target, options);
}

Tensor BCELossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::detail::binary_cross_entropy(input, target, weight,
                                                  options.reduction());
}

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options)
    : WeightedLoss(std::move(options)) {
  reset();
}

void BCEWithLogitsLossImpl::reset() {
  WeightedLoss::reset();
  pos_weight = detail::put_weight(*this, "pos_weight", options.pos_weight());
}

Tensor BCEWithLogitsLossImpl::forward(const Tensor& input,
                                      const Tensor& target) {
  return functional::detail::binary_cross_entropy_with_logits(
      input, target, weight, options.reduction(), pos_weight);
}

Tensor SoftMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::soft_margin_loss(input, target, options);
}

Tensor PoissonNLLLossImpl::forward(const Tensor& log_input,
                                   const Tensor& targets) {
  return functional::poisson_nll_loss(log_input, targets, options);
}

Tensor GaussianNLLLossImpl::forward(const Tensor& input, const Tensor& target,
                                    const Tensor& var) {
  return functional::gaussian_nll_loss(input, target, var, options);
}

Tensor NLLLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::detail::nll_loss(
      input, target, weight, options.ignore_index(), options.reduction());
}

CrossEntropyLossImpl::CrossEntropyLossImpl(CrossEntropyLossOptions options)
    : WeightedLoss(std::move(options)) {
  CrossEntropyLossImpl::reset();
}

void CrossEntropyLossImpl::reset() {
  const double smoothing = options.label_smoothing();
  SY_CHECK(
      smoothing >= 0 && smoothing <= 1, Value,
      "[CrossEntropyLoss] label_smoothing: expected a number in [0, 1], got {}",
      Scalar(smoothing));
  WeightedLoss::reset();
}

Tensor CrossEntropyLossImpl::forward(const Tensor& input,
                                     const Tensor& target) {
  return functional::detail::cross_entropy(
      input, target, weight, options.ignore_index(), options.reduction(),
      options.label_smoothing());
}

MultiMarginLossImpl::MultiMarginLossImpl(MultiMarginLossOptions options)
    : WeightedLoss(std::move(options)) {
  MultiMarginLossImpl::reset();
}

void MultiMarginLossImpl::reset() {
  SY_CHECK(options.p() == 1 || options.p() == 2, Value,
           "[MultiMarginLoss] p: expected 1 or 2, got {}", options.p());
  SY_CHECK(!options.weight().defined() || options.weight().dim() == 1, Value,
           "[MultiMarginLoss] weight: expected 1 dim, got {}",
           describe(options.weight()));
  WeightedLoss::reset();
}

Tensor MultiMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::detail::multi_margin_loss(input, target, options.p(),
                                               options.margin(), weight,
                                               options.reduction());
}

Tensor MultiLabelMarginLossImpl::forward(const Tensor& input,
                                         const Tensor& target) {
  return functional::multilabel_margin_loss(input, target, options);
}

Tensor MultiLabelSoftMarginLossImpl::forward(const Tensor& input,
                                             const Tensor& target) {
  return functional::detail::multilabel_soft_margin_loss(input, target, weight,
                                                         options.reduction());
}

Tensor HingeEmbeddingLossImpl::forward(const Tensor& input,
                                       const Tensor& target) {
  return functional::hinge_embedding_loss(input, target, options);
}

Tensor CosineEmbeddingLossImpl::forward(const Tensor& input1,
                                        const Tensor& input2,
                                        const Tensor& target) {
  return functional::cosine_embedding_loss(input1, input2, target, options);
}

Tensor MarginRankingLossImpl::forward(const Tensor& input1,
                                      const Tensor& input2,
                                      const Tensor& targets) {
  return functional::margin_ranking_loss(input1, input2, targets, options);
}

TripletMarginLossImpl::TripletMarginLossImpl(TripletMarginLossOptions options)
    : WithOptions(options) {
  TripletMarginLossImpl::reset();
}

void TripletMarginLossImpl::reset() {
  check_margin("TripletMarginLoss", options.margin());
}

Tensor TripletMarginLossImpl::forward(const Tensor& anchor,
                                      const Tensor& positive,
                                      const Tensor& negative) {
  return functional::triplet_margin_loss(anchor, positive, negative, options);
}

TripletMarginWithDistanceLossImpl::TripletMarginWithDistanceLossImpl(
    TripletMarginWithDistanceLossOptions options)
    : WithOptions(std::move(options)) {
  TripletMarginWithDistanceLossImpl::reset();
}

void TripletMarginWithDistanceLossImpl::reset() {
  check_margin("TripletMarginWithDistanceLoss", options.margin());
}

Tensor TripletMarginWithDistanceLossImpl::forward(const Tensor& anchor,
                                                  const Tensor& positive,
                                                  const Tensor& negative) {
  return functional::triplet_margin_with_distance_loss(anchor, positive,
                                                       negative, options);
}

Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets,
                            const Tensor& input_lengths,
                            const Tensor& target_lengths) {
  return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths,
                              options);
}

}  // namespace sy::nn
