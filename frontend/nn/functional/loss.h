#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/loss.h"

// Losses as functions. The result is a number, or, with the reduction kNone,
// the loss of each element or row. N is the number of rows, C that of classes.
// Errors are ValueError, TypeError for a dtype, and IndexError for a class that
// is none.

namespace sy::nn::functional {

// |input - target|, which broadcast.
SY_API Tensor l1_loss(const Tensor& input, const Tensor& target,
                      const L1LossFuncOptions& options = {});
// (input - target)^2, which broadcast.
SY_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                       const MSELossFuncOptions& options = {});
// With d = |input - target|, which broadcast: d^2 / (2 * beta) below beta, else
// d - beta / 2.
SY_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                             const SmoothL1LossFuncOptions& options = {});
// The same. Throws ValueError if the options have a beta too.
SY_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                             const SmoothL1LossFuncOptions& options,
                             double beta);
// With d = |input - target|, which broadcast: d^2 / 2 below delta, else
// delta * (d - delta / 2).
SY_API Tensor huber_loss(const Tensor& input, const Tensor& target,
                         const HuberLossFuncOptions& options = {});
// target * (log(target) - input), of logarithms in the input.
SY_API Tensor kl_div(const Tensor& input, const Tensor& target,
                     const KLDivFuncOptions& options = {});
// -target * log(input) - (1 - target) * log(1 - input), of the same sizes; both
// have probabilities.
SY_API Tensor
binary_cross_entropy(const Tensor& input, const Tensor& target,
                     const BinaryCrossEntropyFuncOptions& options = {});
// The same for input = sigmoid(x), computed from x.
SY_API Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target,
    const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
// log(1 + exp(-target * input)) for targets 1 and -1.
SY_API Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                               const SoftMarginLossFuncOptions& options = {});
// Poisson's negative log-likelihood of the target: rate - target * log(rate).
SY_API Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                               const PoissonNLLLossFuncOptions& options = {});
// (log(var) + (input - target)^2 / var) / 2. `var` has the sizes of the input,
// those with one dim of size 1, or those without the last dim. Throws
// ValueError for other sizes and for a variance below 0.
SY_API Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target,
                                const Tensor& var,
                                const GaussianNLLLossFuncOptions& options = {});

// -input[n, target[n]], of logarithms of probabilities: (N, C, ...) or (C), and
// classes (N, ...) or ().
SY_API Tensor nll_loss(const Tensor& input, const Tensor& target,
                       const NLLLossFuncOptions& options = {});
// nll_loss of log_softmax(input). A target of a floating dtype and the sizes of
// the input has a probability for each class.
SY_API Tensor cross_entropy(const Tensor& input, const Tensor& target,
                            const CrossEntropyFuncOptions& options = {});
// The sum over other classes c of max(0, margin - input[n, target[n]] +
// input[n, c])^p, over C.
SY_API Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                                const MultiMarginLossFuncOptions& options = {});
// The sum over targets t and classes c that are none of max(0, 1 - input[n, t]
// + input[n, c]), over C. A row of the target has classes up to the first -1.
SY_API Tensor
multilabel_margin_loss(const Tensor& input, const Tensor& target,
                       const MultilabelMarginLossFuncOptions& options = {});
// binary_cross_entropy_with_logits, its mean over the last dim.
SY_API Tensor multilabel_soft_margin_loss(
    const Tensor& input, const Tensor& target,
    const MultilabelSoftMarginLossFuncOptions& options = {});

// input where the target is 1, max(0, margin - input) where it is -1.
SY_API Tensor
hinge_embedding_loss(const Tensor& input, const Tensor& target,
                     const HingeEmbeddingLossFuncOptions& options = {});
// For (N, D) or (D): 1 - cos where the target is 1, max(0, cos - margin) where
// it is -1.
SY_API Tensor cosine_embedding_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target,
    const CosineEmbeddingLossFuncOptions& options = {});
// max(0, margin - target * (input1 - input2)), of the same number of dims.
SY_API Tensor margin_ranking_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target,
    const MarginRankingLossFuncOptions& options = {});
// max(0, margin + |anchor - positive| - |anchor - negative|) along the last
// dim. Throws ValueError for a margin of 0 or less.
SY_API Tensor triplet_margin_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginLossFuncOptions& options = {});
// The same for another distance.
SY_API Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {});

// The negative log-likelihood of label sequences: of log_probs (T, N, C) or (T,
// C), targets (N, S), (S) or all in one row, and how long each is.
SY_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                       const Tensor& input_lengths,
                       const Tensor& target_lengths,
                       const CTCLossFuncOptions& options = {});

// For modules, which keep weights apart from their options.
namespace detail {

SY_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                   const Tensor& weight,
                                   LossReduction reduction);
SY_API Tensor binary_cross_entropy_with_logits(const Tensor& input,
                                               const Tensor& target,
                                               const Tensor& weight,
                                               LossReduction reduction,
                                               const Tensor& pos_weight);
SY_API Tensor nll_loss(const Tensor& input, const Tensor& target,
                       const Tensor& weight, int64_t ignore_index,
                       LossReduction reduction);
SY_API Tensor cross_entropy(const Tensor& input, const Tensor& target,
                            const Tensor& weight, int64_t ignore_index,
                            LossReduction reduction, double label_smoothing);
SY_API Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                                int64_t p, double margin, const Tensor& weight,
                                LossReduction reduction);
SY_API Tensor multilabel_soft_margin_loss(const Tensor& input,
                                          const Tensor& target,
                                          const Tensor& weight,
                                          LossReduction reduction);

}  // namespace detail
}  // namespace sy::nn::functional
