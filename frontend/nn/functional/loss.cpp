#include "frontend/nn/functional/loss.h"

#include <cmath>
#include <numbers>

#include "aten/contract/reduction_kind.h"
#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/loss.h"
#include "aten/ops/loss_binary.h"
#include "aten/ops/loss_distance.h"
#include "aten/ops/loss_ranking.h"
#include "aten/ops/loss_sequence.h"
#include "aten/ops/loss_spatial.h"
#include "aten/ops/math.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/nn/functional/distance.h"

namespace sy::nn::functional {

namespace {

// The reduction as operators take it.
int64_t kind(LossReduction reduction) {
  if (reduction == kNone) return Reduction::None;
  return reduction == kMean ? Reduction::Mean : Reduction::Sum;
}

// An undefined weight stands for none.
std::optional<Tensor> given(const Tensor& weight) {
  return weight.defined() ? std::optional(weight) : std::nullopt;
}

Tensor reduced(const Tensor& losses, LossReduction reduction) {
  if (reduction == kNone) return losses;
  return reduction == kMean ? losses.mean() : losses.sum();
}

void check_sizes(const char* op, const Tensor& input, const Tensor& target) {
  SY_CHECK(target.sizes() == input.sizes(), Value,
           "[{}] target: expected the sizes {} of the input, got {}", op,
           input.sizes(), target.sizes());
}

// `var` with sizes that broadcast to those of the input.
Tensor variance_for(const Tensor& input, const Tensor& var) {
  if (var.sizes() == input.sizes()) return var;
  const int64_t dims = input.dim();
  if (var.dim() == dims - 1 &&
      var.sizes() == input.sizes().slice(0, static_cast<size_t>(dims - 1))) {
    return var.unsqueeze(-1);
  }
  int64_t ones = 0, others = 0;
  for (int64_t d = 0; var.dim() == dims && d < dims; ++d) {
    if (var.size(d) == input.size(d)) continue;
    ++(var.size(d) == 1 ? ones : others);
  }
  SY_CHECK(ones == 1 && others == 0, Value,
           "[gaussian_nll_loss] var: expected the sizes {} of the input, these "
           "with one 1 in them, or these without the last, got {}",
           input.sizes(), var.sizes());
  return var;
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target,
               const L1LossFuncOptions& options) {
  return sy::l1_loss(input, target, kind(options.reduction()));
}

Tensor mse_loss(const Tensor& input, const Tensor& target,
                const MSELossFuncOptions& options) {
  return sy::mse_loss(input, target, kind(options.reduction()));
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options) {
  return sy::smooth_l1_loss(input, target, kind(options.reduction()),
                            options.beta().value_or(1.0));
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, double beta) {
  SY_CHECK(!options.beta().has_value(), Value,
           "[smooth_l1_loss] options: expected none for beta, which is an "
           "argument, got {}",
           Scalar(*options.beta()));
  return sy::smooth_l1_loss(input, target, kind(options.reduction()), beta);
}

Tensor huber_loss(const Tensor& input, const Tensor& target,
                  const HuberLossFuncOptions& options) {
  return sy::huber_loss(input, target, kind(options.reduction()),
                        options.delta());
}

Tensor kl_div(const Tensor& input, const Tensor& target,
              const KLDivFuncOptions& options) {
  const auto reduction = options.reduction();
  if (reduction == kBatchMean) {
    const Tensor sum =
        sy::kl_div(input, target, Reduction::Sum, options.log_target());
    return input.dim() == 0 ? sum : sum / Scalar(input.size(0));
  }
  const int64_t how = reduction == kNone   ? Reduction::None
                      : reduction == kMean ? Reduction::Mean
                                           : Reduction::Sum;
  return sy::kl_div(input, target, how, options.log_target());
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& options) {
  return detail::binary_cross_entropy(input, target, options.weight(),
                                      options.reduction());
}

Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target,
    const BinaryCrossEntropyWithLogitsFuncOptions& options) {
  return detail::binary_cross_entropy_with_logits(
      input, target, options.weight(), options.reduction(),
      options.pos_weight());
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossFuncOptions& options) {
  return sy::soft_margin_loss(input, target, kind(options.reduction()));
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNLLLossFuncOptions& options) {
  return sy::poisson_nll_loss(input, target, options.log_input(),
                              options.full(), options.eps(),
                              kind(options.reduction()));
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target,
                         const Tensor& var,
                         const GaussianNLLLossFuncOptions& options) {
  const Tensor wide = variance_for(input, var);
  // A capture has no elements to look at.
  if (!wide.is_meta() && thread_state.capture == nullptr) {
    SY_CHECK(!wide.detach().lt(Scalar(0)).any().item<bool>(), Value,
             "[gaussian_nll_loss] var: expected variances of at least 0, got "
             "one below");
  }
  // The gradient passes what is raised to eps.
  const Tensor variance = wide.clone();
  {
    const NoGradGuard no_grad;
    variance.clamp_min_(Scalar(options.eps()));
  }
  const Tensor difference = input - target;
  Tensor losses =
      (sy::log(variance) + difference * difference / variance) * Scalar(0.5);
  if (options.full()) {
    losses = losses + Scalar(0.5 * std::log(2 * std::numbers::pi));
  }
  return reduced(losses, options.reduction());
}

Tensor nll_loss(const Tensor& input, const Tensor& target,
                const NLLLossFuncOptions& options) {
  return detail::nll_loss(input, target, options.weight(),
                          options.ignore_index(), options.reduction());
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options) {
  return detail::cross_entropy(input, target, options.weight(),
                               options.ignore_index(), options.reduction(),
                               options.label_smoothing());
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& options) {
  return detail::multi_margin_loss(input, target, options.p(), options.margin(),
                                   options.weight(), options.reduction());
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& options) {
  return sy::multilabel_margin_loss(input, target, kind(options.reduction()));
}

Tensor multilabel_soft_margin_loss(
    const Tensor& input, const Tensor& target,
    const MultilabelSoftMarginLossFuncOptions& options) {
  return detail::multilabel_soft_margin_loss(input, target, options.weight(),
                                             options.reduction());
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& options) {
  return sy::hinge_embedding_loss(input, target, options.margin(),
                                  kind(options.reduction()));
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2,
                             const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options) {
  return sy::cosine_embedding_loss(input1, input2, target, options.margin(),
                                   kind(options.reduction()));
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                           const Tensor& target,
                           const MarginRankingLossFuncOptions& options) {
  return sy::margin_ranking_loss(input1, input2, target, options.margin(),
                                 kind(options.reduction()));
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                           const Tensor& negative,
                           const TripletMarginLossFuncOptions& options) {
  return sy::triplet_margin_loss(anchor, positive, negative, options.margin(),
                                 options.p(), options.eps(), options.swap(),
                                 kind(options.reduction()));
}

Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options) {
  SY_CHECK(options.margin() > 0, Value,
           "[triplet_margin_with_distance_loss] margin: expected more than 0, "
           "got {}",
           Scalar(options.margin()));
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    const auto& f = options.distance_function();
    return f.has_value() ? (*f)(a, b) : pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap()) far = far.minimum(distance(positive, negative));
  return reduced((near - far + Scalar(options.margin())).clamp_min(0),
                 options.reduction());
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                const Tensor& input_lengths, const Tensor& target_lengths,
                const CTCLossFuncOptions& options) {
  return sy::ctc_loss(log_probs, targets, input_lengths, target_lengths,
                      options.blank(), kind(options.reduction()),
                      options.zero_infinity());
}

namespace detail {

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const Tensor& weight, LossReduction reduction) {
  check_sizes("binary_cross_entropy", input, target);
  return sy::binary_cross_entropy(input, target, given(weight),
                                  kind(reduction));
}

Tensor binary_cross_entropy_with_logits(const Tensor& input,
                                        const Tensor& target,
                                        const Tensor& weight,
                                        LossReduction reduction,
                                        const Tensor& pos_weight) {
  check_sizes("binary_cross_entropy_with_logits", input, target);
  return sy::binary_cross_entropy_with_logits(
      input, target, given(weight), given(pos_weight), kind(reduction));
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                int64_t ignore_index, LossReduction reduction) {
  return sy::nll_loss_nd(input, target, given(weight), kind(reduction),
                         ignore_index);
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const Tensor& weight, int64_t ignore_index,
                     LossReduction reduction, double label_smoothing) {
  return sy::cross_entropy_loss(input, target, given(weight), kind(reduction),
                                ignore_index, label_smoothing);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, int64_t p,
                         double margin, const Tensor& weight,
                         LossReduction reduction) {
  return sy::multi_margin_loss(input, target, p, margin, given(weight),
                               kind(reduction));
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const Tensor& weight,
                                   LossReduction reduction) {
  SY_CHECK(input.dim() > 0, Value,
           "[multilabel_soft_margin_loss] input: expected at least one dim, "
           "got {}",
           describe(input));
  Tensor losses = -(target * sy::log_sigmoid(input) +
                    (Scalar(1) - target) * sy::log_sigmoid(-input));
  if (weight.defined()) losses = losses * weight;
  return reduced(losses.mean({-1}), reduction);
}

}  // namespace detail
}  // namespace sy::nn::functional
