#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>

#include "frontend/nn/arg.h"
#include "frontend/nn/clone.h"
#include "frontend/nn/options/enums.h"

// Options of the losses. Names and defaults are libtorch's; options with the
// same members are one type. `reduction` is kNone (the loss of each element),
// kMean or kSum.

namespace sy::nn {

using LossReduction =
    enumtype::OneOf<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

struct ReductionOptions {
  using reduction_t = LossReduction;
  ReductionOptions() = default;
  template <std::convertible_to<reduction_t> R>
  ReductionOptions(R reduction) : reduction_(reduction) {}
  SY_ARG(reduction_t, reduction) = kMean;
};
using L1LossOptions = ReductionOptions;
using MSELossOptions = ReductionOptions;
using MultiLabelMarginLossOptions = ReductionOptions;
using SoftMarginLossOptions = ReductionOptions;

struct WeightOptions {
  using reduction_t = LossReduction;
  // The factor of each loss, of sizes that broadcast to the losses'.
  SY_ARG(Parameter, weight);
  SY_ARG(reduction_t, reduction) = kMean;
};
using BCELossOptions = WeightOptions;
using MultiLabelSoftMarginLossOptions = WeightOptions;

struct KLDivLossOptions {
  using reduction_t = enumtype::OneOf<enumtype::kNone, enumtype::kBatchMean,
                                      enumtype::kSum, enumtype::kMean>;
  KLDivLossOptions() = default;
  template <std::convertible_to<reduction_t> R>
  KLDivLossOptions(R reduction) : reduction_(reduction) {}
  // kMean is by element. kBatchMean divides the sum by the size of the first
  // dim, and is what the divergence is defined as.
  SY_ARG(reduction_t, reduction) = kMean;
  // The target has logarithms of probabilities.
  SY_ARG(bool, log_target) = false;
};

struct HingeEmbeddingLossOptions {
  using reduction_t = LossReduction;
  SY_ARG(double, margin) = 1.0;
  SY_ARG(reduction_t, reduction) = kMean;
};

struct MarginOptions {
  using reduction_t = LossReduction;
  SY_ARG(double, margin) = 0.0;
  SY_ARG(reduction_t, reduction) = kMean;
};
using CosineEmbeddingLossOptions = MarginOptions;
using MarginRankingLossOptions = MarginOptions;

struct MultiMarginLossOptions {
  using reduction_t = LossReduction;
  // The power of each margin that is missed: 1 or 2.
  SY_ARG(int64_t, p) = 1;
  SY_ARG(double, margin) = 1.0;
  // One number for each class.
  SY_ARG(Parameter, weight);
  SY_ARG(reduction_t, reduction) = kMean;
};

struct TripletMarginLossOptions {
  using reduction_t = LossReduction;
  // Above 0.
  SY_ARG(double, margin) = 1.0;
  // The norm of the distance, and what is added to each difference.
  SY_ARG(double, p) = 2.0;
  SY_ARG(double, eps) = 1e-6;
  // The negative is compared with the positive too, if that is nearer.
  SY_ARG(bool, swap) = false;
  SY_ARG(reduction_t, reduction) = kMean;
};

struct TripletMarginWithDistanceLossOptions {
  using reduction_t = LossReduction;
  using distance_function_t =
      std::function<Tensor(const Tensor&, const Tensor&)>;
  // nullopt: functional::pairwise_distance.
  SY_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  // Above 0.
  SY_ARG(double, margin) = 1.0;
  SY_ARG(bool, swap) = false;
  SY_ARG(reduction_t, reduction) = kMean;
};

struct CTCLossOptions {
  using reduction_t = LossReduction;
  // The class that stands for no label.
  SY_ARG(int64_t, blank) = 0;
  // kMean divides each loss by the length of its target first.
  SY_ARG(reduction_t, reduction) = kMean;
  // A loss that is infinite, of a target too long for its input, counts as 0.
  SY_ARG(bool, zero_infinity) = false;
};

struct SmoothL1LossOptions {
  using reduction_t = LossReduction;
  SmoothL1LossOptions() = default;
  template <std::convertible_to<reduction_t> R>
  SmoothL1LossOptions(R reduction) : reduction_(reduction) {}
  SY_ARG(reduction_t, reduction) = kMean;
  // The difference from where the loss is linear; nullopt is 1. At least 0.
  SY_ARG(std::optional<double>, beta) = std::nullopt;
};

struct HuberLossOptions {
  using reduction_t = LossReduction;
  HuberLossOptions() = default;
  template <std::convertible_to<reduction_t> R>
  HuberLossOptions(R reduction) : reduction_(reduction) {}
  SY_ARG(reduction_t, reduction) = kMean;
  // The difference from where the loss is linear. Above 0.
  SY_ARG(double, delta) = 1.0;
};

struct PoissonNLLLossOptions {
  using reduction_t = LossReduction;
  // The input has logarithms of rates.
  SY_ARG(bool, log_input) = true;
  // Adds Stirling's approximation of log(target!) where target > 1.
  SY_ARG(bool, full) = false;
  // Added to a rate before its logarithm.
  SY_ARG(double, eps) = 1e-8;
  SY_ARG(reduction_t, reduction) = kMean;
};

// Only Python has this one.
struct GaussianNLLLossOptions {
  using reduction_t = LossReduction;
  // Adds log(2 pi) / 2.
  SY_ARG(bool, full) = false;
  // The least that a variance counts as.
  SY_ARG(double, eps) = 1e-6;
  SY_ARG(reduction_t, reduction) = kMean;
};

struct NLLLossOptions {
  using reduction_t = LossReduction;
  // One number for each class. kMean divides by the sum of those used.
  SY_ARG(Parameter, weight);
  // Targets of this class count as nothing.
  SY_ARG(int64_t, ignore_index) = -100;
  SY_ARG(reduction_t, reduction) = kMean;
};

struct CrossEntropyLossOptions {
  using reduction_t = LossReduction;
  // The same as for NLLLoss.
  SY_ARG(Parameter, weight);
  SY_ARG(int64_t, ignore_index) = -100;
  SY_ARG(reduction_t, reduction) = kMean;
  // The part of each target that goes to all classes alike, in [0, 1].
  SY_ARG(double, label_smoothing) = 0.0;
};

struct BCEWithLogitsLossOptions {
  using reduction_t = LossReduction;
  // The factor of each loss, of sizes that broadcast to the losses'.
  SY_ARG(Parameter, weight);
  SY_ARG(reduction_t, reduction) = kMean;
  // The factor of the part of the loss for targets of 1.
  SY_ARG(Parameter, pos_weight);
};

namespace functional {

using L1LossFuncOptions = L1LossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using MSELossFuncOptions = MSELossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions =
    TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using GaussianNLLLossFuncOptions = GaussianNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;

}  // namespace functional
}  // namespace sy::nn
