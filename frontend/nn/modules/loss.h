#pragma once

#include "frontend/nn/modules/with_options.h"
#include "frontend/nn/options/loss.h"

// Losses as modules. functional/loss.h has their formulas, and the sizes of
// their inputs.

namespace sy::nn {

namespace detail {

// Registers a buffer of this name in place of the one that is there. It shares
// memory with `given`, but is a tensor of its own: Module::to() leaves the
// user's alone. One that requires a gradient is taken itself.
SY_API Tensor put_weight(Module& module, const char* name, const Tensor& given);

// A loss with weights: a buffer, which state dicts have if it is defined.
template <class Options>
class SY_API WeightedLoss : public WithOptions<Options> {
 public:
  explicit WeightedLoss(Options options = {})
      : WithOptions<Options>(std::move(options)) {
    reset();
  }
  // Takes the weight of the options anew.
  void reset() { weight = put_weight(*this, "weight", this->options.weight()); }

  Parameter weight;
};

}  // namespace detail

// The absolute difference.
class SY_API L1LossImpl : public detail::WithOptions<L1LossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(L1Loss);

// The square of the difference.
class SY_API MSELossImpl : public detail::WithOptions<MSELossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(MSELoss);

// The absolute difference, a square near 0. Throws ValueError for a beta below
// 0.
class SY_API SmoothL1LossImpl
    : public detail::WithOptions<SmoothL1LossOptions> {
 public:
  explicit SmoothL1LossImpl(SmoothL1LossOptions options = {});
  void reset();
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(SmoothL1Loss);

// The square near 0, linear beyond delta. Throws ValueError for a delta of 0 or
// less.
class SY_API HuberLossImpl : public detail::WithOptions<HuberLossOptions> {
 public:
  explicit HuberLossImpl(HuberLossOptions options = {});
  void reset();
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(HuberLoss);

// The Kullback-Leibler divergence of the target from exp(input).
class SY_API KLDivLossImpl : public detail::WithOptions<KLDivLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(KLDivLoss);

// The binary cross entropy of probabilities.
class SY_API BCELossImpl : public detail::WeightedLoss<BCELossOptions> {
 public:
  using WeightedLoss::WeightedLoss;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(BCELoss);

// The binary cross entropy of sigmoid(input).
class SY_API BCEWithLogitsLossImpl
    : public detail::WeightedLoss<BCEWithLogitsLossOptions> {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options = {});
  void reset();
  Tensor forward(const Tensor& input, const Tensor& target);

  Parameter pos_weight;
};
SY_MODULE(BCEWithLogitsLoss);

// log(1 + exp(-target * input)) for targets 1 and -1.
class SY_API SoftMarginLossImpl
    : public detail::WithOptions<SoftMarginLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(SoftMarginLoss);

// Poisson's negative log-likelihood.
class SY_API PoissonNLLLossImpl
    : public detail::WithOptions<PoissonNLLLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& log_input, const Tensor& targets);
};
SY_MODULE(PoissonNLLLoss);

// Gauss' negative log-likelihood. Only Python has this one.
class SY_API GaussianNLLLossImpl
    : public detail::WithOptions<GaussianNLLLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input, const Tensor& target, const Tensor& var);
};
SY_MODULE(GaussianNLLLoss);

// The negative log-likelihood of classes, of log-probabilities.
class SY_API NLLLossImpl : public detail::WeightedLoss<NLLLossOptions> {
 public:
  using WeightedLoss::WeightedLoss;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(NLLLoss);

// The cross entropy of softmax(input) and classes or probabilities. Throws
// ValueError for a label_smoothing outside of [0, 1].
class SY_API CrossEntropyLossImpl
    : public detail::WeightedLoss<CrossEntropyLossOptions> {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options = {});
  void reset();
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(CrossEntropyLoss);

// The amount that the score of a class lacks to lie above the others by a
// margin. Throws ValueError for p other than 1 and 2, and for a weight that is
// no vector.
class SY_API MultiMarginLossImpl
    : public detail::WeightedLoss<MultiMarginLossOptions> {
 public:
  explicit MultiMarginLossImpl(MultiMarginLossOptions options = {});
  void reset();
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(MultiMarginLoss);

// The same of several classes, beside those that are no target.
class SY_API MultiLabelMarginLossImpl
    : public detail::WithOptions<MultiLabelMarginLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(MultiLabelMarginLoss);

// The binary cross entropy of sigmoid(input), its mean over classes.
class SY_API MultiLabelSoftMarginLossImpl
    : public detail::WeightedLoss<MultiLabelSoftMarginLossOptions> {
 public:
  using WeightedLoss::WeightedLoss;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(MultiLabelSoftMarginLoss);

// A distance where the target is 1, the amount that it lacks to a margin where
// it is -1.
class SY_API HingeEmbeddingLossImpl
    : public detail::WithOptions<HingeEmbeddingLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input, const Tensor& target);
};
SY_MODULE(HingeEmbeddingLoss);

// The amount that the cosine of two vectors lacks to 1, or has above a margin.
class SY_API CosineEmbeddingLossImpl
    : public detail::WithOptions<CosineEmbeddingLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input1, const Tensor& input2,
                 const Tensor& target);
};
SY_MODULE(CosineEmbeddingLoss);

// The amount that input1 lacks to lie above input2 by a margin, or below for
// targets of -1.
class SY_API MarginRankingLossImpl
    : public detail::WithOptions<MarginRankingLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input1, const Tensor& input2,
                 const Tensor& targets);
};
SY_MODULE(MarginRankingLoss);

// The amount that the distance to `negative` lacks to lie above that to
// `positive` by a margin. Throws ValueError for a margin of 0 or less.
class SY_API TripletMarginLossImpl
    : public detail::WithOptions<TripletMarginLossOptions> {
 public:
  explicit TripletMarginLossImpl(TripletMarginLossOptions options = {});
  void reset();
  Tensor forward(const Tensor& anchor, const Tensor& positive,
                 const Tensor& negative);
};
SY_MODULE(TripletMarginLoss);

// The same for another distance.
class SY_API TripletMarginWithDistanceLossImpl
    : public detail::WithOptions<TripletMarginWithDistanceLossOptions> {
 public:
  explicit TripletMarginWithDistanceLossImpl(
      TripletMarginWithDistanceLossOptions options = {});
  void reset();
  Tensor forward(const Tensor& anchor, const Tensor& positive,
                 const Tensor& negative);
};
SY_MODULE(TripletMarginWithDistanceLoss);

// The negative log-likelihood of label sequences.
class SY_API CTCLossImpl : public detail::WithOptions<CTCLossOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& log_probs, const Tensor& targets,
                 const Tensor& input_lengths, const Tensor& target_lengths);
};
SY_MODULE(CTCLoss);

}  // namespace sy::nn
