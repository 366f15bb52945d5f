#include "frontend/nn/modules/loss.h"

#include <gtest/gtest.h>

#include <sstream>

#include "frontend/nn/functional/loss.h"
#include "sy/sy.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/recorded.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::NnCase;
using test::NnCases;
using In = const std::vector<Tensor>&;

// How a case calls a loss: with its inputs, or with targets as floats, which
// then have no gradient.
enum Call { kPlain, kFloats };

template <class Holder>
NnCase loss_case(decltype(Holder::Impl::options) options, Call call) {
  return {
      [=] { return Holder(options).ptr(); },
      [=](Module* m, In in) {
        auto* const loss = m->as<Holder>();
        const auto target = [&](size_t i) {
          return call == kFloats ? in[i].to(kFloat) : in[i];
        };
        if constexpr (requires { loss->forward(in[0], in[0], in[0]); }) {
          return std::vector<Tensor>{loss->forward(in[0], in[1], target(2))};
        } else if constexpr (requires { loss->forward(in[0], in[0]); }) {
          return std::vector<Tensor>{loss->forward(in[0], target(1))};
        } else {
          return std::vector<Tensor>{loss->forward(in[0], in[1], in[2], in[3])};
        }
      }};
}

// The cases of one loss, by the names of the records.
template <class Holder>
class Losses {
 public:
  using Options = decltype(Holder::Impl::options);

  Losses(NnCases& all, std::string name, Call call = kPlain)
      : all_(all), name_(std::move(name)), call_(call) {
    each("_none", Options().reduction(kNone));
    each("_mean", Options().reduction(kMean));
    EXPECT_TRUE(Options().reduction() == kMean);
  }
  Losses& each(const std::string& suffix, const Options& options) {
    all_[name_ + suffix] = loss_case<Holder>(options, call_);
    return *this;
  }

 private:
  NnCases& all_;
  const std::string name_;
  const Call call_;
};

// The losses of elements.
void add_elements(NnCases& all) {
  Losses<L1Loss>(all, "L1Loss");
  Losses<MSELoss>(all, "MSELoss");
  Losses<SmoothL1Loss>(all, "SmoothL1Loss")
      .each("_beta", SmoothL1LossOptions().beta(0.3));
  Losses<HuberLoss>(all, "HuberLoss")
      .each("_delta", HuberLossOptions().delta(0.3));
  Losses<KLDivLoss>(all, "KLDivLoss")
      .each("_batchmean", KLDivLossOptions(kBatchMean))
      .each("_log_target", KLDivLossOptions().log_target(true));
  Losses<BCELoss>(all, "BCELoss")
      .each("_weight", BCELossOptions().weight(ones({4})));
  Losses<BCEWithLogitsLoss>(all, "BCEWithLogitsLoss")
      .each("_weight", BCEWithLogitsLossOptions().weight(ones({4})))
      .each("_pos_weight", BCEWithLogitsLossOptions().pos_weight(ones({4})))
      .each("_both",
            BCEWithLogitsLossOptions().weight(ones({4})).pos_weight(ones({4})));
  Losses<SoftMarginLoss>(all, "SoftMarginLoss", kFloats);
  Losses<PoissonNLLLoss>(all, "PoissonNLLLoss", kFloats)
      .each("_full", PoissonNLLLossOptions().full(true))
      .each("_rates", PoissonNLLLossOptions().log_input(false))
      .each("_eps", PoissonNLLLossOptions().log_input(false).eps(0.5));
  Losses<GaussianNLLLoss>(all, "GaussianNLLLoss")
      .each("_full", GaussianNLLLossOptions().full(true))
      .each("_eps", GaussianNLLLossOptions().eps(1))
      .each("_rows", GaussianNLLLossOptions())
      .each("_columns", GaussianNLLLossOptions());
}

void add_classes(NnCases& all) {
  const Tensor weight = ones({3});
  Losses<NLLLoss>(all, "NLLLoss")
      .each("_weight", NLLLossOptions().weight(weight))
      .each("_ignore", NLLLossOptions().ignore_index(1))
      .each("_spatial", NLLLossOptions())
      .each("_unbatched", NLLLossOptions());
  Losses<CrossEntropyLoss>(all, "CrossEntropyLoss")
      .each("_weight", CrossEntropyLossOptions().weight(weight))
      .each("_ignore", CrossEntropyLossOptions().ignore_index(1))
      .each("_spatial", CrossEntropyLossOptions())
      .each("_unbatched", CrossEntropyLossOptions())
      .each("_smoothing",
            CrossEntropyLossOptions().weight(weight).label_smoothing(0.25))
      .each("_probabilities", CrossEntropyLossOptions());
  Losses<MultiMarginLoss>(all, "MultiMarginLoss")
      .each("_p", MultiMarginLossOptions().p(2))
      .each("_margin", MultiMarginLossOptions().margin(0.5))
      .each("_weight", MultiMarginLossOptions().weight(weight));
  Losses<MultiLabelMarginLoss>(all, "MultiLabelMarginLoss");
  Losses<MultiLabelSoftMarginLoss>(all, "MultiLabelSoftMarginLoss", kFloats)
      .each("_weight", MultiLabelSoftMarginLossOptions().weight(weight));
}

Tensor manhattan(const Tensor& a, const Tensor& b) {
  return (a - b).abs().sum({-1});
}

void add_embeddings(NnCases& all) {
  Losses<HingeEmbeddingLoss>(all, "HingeEmbeddingLoss", kFloats)
      .each("_margin", HingeEmbeddingLossOptions().margin(0.25));
  Losses<CosineEmbeddingLoss>(all, "CosineEmbeddingLoss")
      .each("_margin", CosineEmbeddingLossOptions().margin(-0.75));
  Losses<MarginRankingLoss>(all, "MarginRankingLoss")
      .each("_margin", MarginRankingLossOptions().margin(0.5));
  Losses<TripletMarginLoss>(all, "TripletMarginLoss")
      .each("_margin", TripletMarginLossOptions().margin(2.5))
      .each("_p", TripletMarginLossOptions().p(1))
      .each("_eps", TripletMarginLossOptions().eps(0.5))
      .each("_swap", TripletMarginLossOptions().swap(true));
  using Options = TripletMarginWithDistanceLossOptions;
  Losses<TripletMarginWithDistanceLoss>(all, "TripletMarginWithDistanceLoss")
      .each("_margin", Options().margin(2.5))
      .each("_swap", Options().swap(true))
      .each("_distance", Options().distance_function(manhattan).swap(true));
  Losses<CTCLoss>(all, "CTCLoss")
      .each("_blank", CTCLossOptions().blank(3))
      .each("_zero_infinity", CTCLossOptions().zero_infinity(true));
}

struct AddFunction {
  NnCases& all;
  void operator()(const char* name, Tensor (*f)(In in)) const {
    all[name] = function_case(f);
  }
};

void add_element_functions(NnCases& all) {
  const AddFunction add{all};
  add("l1_loss", [](In x) { return F::l1_loss(x[0], x[1], kSum); });
  add("mse_loss", [](In x) { return F::mse_loss(x[0], x[1], kSum); });
  add("mse_loss_broadcast", [](In x) { return F::mse_loss(x[0], x[1]); });
  add("smooth_l1_loss", [](In x) {
    return F::smooth_l1_loss(x[0], x[1],
                             F::SmoothL1LossFuncOptions(kSum).beta(0.3));
  });
  add("smooth_l1_loss_beta",
      [](In x) { return F::smooth_l1_loss(x[0], x[1], kSum, 0.3); });
  add("huber_loss", [](In x) {
    return F::huber_loss(x[0], x[1], F::HuberLossFuncOptions(kSum).delta(0.3));
  });
  add("kl_div", [](In x) {
    return F::kl_div(x[0], x[1],
                     F::KLDivFuncOptions(kBatchMean).log_target(true));
  });
  add("kl_div_mean", [](In x) { return F::kl_div(x[0], x[1]); });
  add("kl_div_none", [](In x) { return F::kl_div(x[0], x[1], kNone); });
  add("binary_cross_entropy", [](In x) {
    return F::binary_cross_entropy(x[0], x[1],
                                   F::BinaryCrossEntropyFuncOptions()
                                       .weight(x[2].detach())
                                       .reduction(kSum));
  });
  add("binary_cross_entropy_with_logits", [](In x) {
    return F::binary_cross_entropy_with_logits(
        x[0], x[1],
        F::BinaryCrossEntropyWithLogitsFuncOptions()
            .weight(x[2].detach())
            .pos_weight(x[3].detach())
            .reduction(kSum));
  });
  add("soft_margin_loss",
      [](In x) { return F::soft_margin_loss(x[0], x[1].to(kFloat), kSum); });
  add("poisson_nll_loss", [](In x) {
    return F::poisson_nll_loss(x[0], x[1].to(kFloat),
                               F::PoissonNLLLossFuncOptions()
                                   .log_input(false)
                                   .full(true)
                                   .eps(0.5)
                                   .reduction(kSum));
  });
  add("gaussian_nll_loss", [](In x) {
    return F::gaussian_nll_loss(
        x[0], x[1], x[2],
        F::GaussianNLLLossFuncOptions().full(true).eps(1).reduction(kSum));
  });
}

void add_class_functions(NnCases& all) {
  const AddFunction add{all};
  add("nll_loss", [](In x) {
    return F::nll_loss(x[0], x[1],
                       F::NLLLossFuncOptions()
                           .weight(x[2].detach())
                           .ignore_index(1)
                           .reduction(kSum));
  });
  add("cross_entropy", [](In x) {
    return F::cross_entropy(x[0], x[1],
                            F::CrossEntropyFuncOptions()
                                .weight(x[2].detach())
                                .ignore_index(1)
                                .label_smoothing(0.25)
                                .reduction(kSum));
  });
  add("multi_margin_loss", [](In x) {
    return F::multi_margin_loss(x[0], x[1],
                                F::MultiMarginLossFuncOptions()
                                    .p(2)
                                    .margin(0.5)
                                    .weight(x[2].detach())
                                    .reduction(kSum));
  });
  add("multilabel_margin_loss",
      [](In x) { return F::multilabel_margin_loss(x[0], x[1], kSum); });
  add("multilabel_soft_margin_loss", [](In x) {
    return F::multilabel_soft_margin_loss(
        x[0], x[1].to(kFloat),
        F::MultilabelSoftMarginLossFuncOptions()
            .weight(x[2].detach())
            .reduction(kSum));
  });
}

void add_embedding_functions(NnCases& all) {
  const AddFunction add{all};
  add("hinge_embedding_loss", [](In x) {
    return F::hinge_embedding_loss(
        x[0], x[1].to(kFloat),
        F::HingeEmbeddingLossFuncOptions().margin(0.25).reduction(kSum));
  });
  add("cosine_embedding_loss", [](In x) {
    return F::cosine_embedding_loss(
        x[0], x[1], x[2],
        F::CosineEmbeddingLossFuncOptions().margin(-0.75).reduction(kSum));
  });
  add("margin_ranking_loss", [](In x) {
    return F::margin_ranking_loss(
        x[0], x[1], x[2],
        F::MarginRankingLossFuncOptions().margin(0.5).reduction(kSum));
  });
  add("triplet_margin_loss", [](In x) {
    return F::triplet_margin_loss(x[0], x[1], x[2],
                                  F::TripletMarginLossFuncOptions()
                                      .margin(2.5)
                                      .p(1)
                                      .eps(0.5)
                                      .swap(true)
                                      .reduction(kSum));
  });
  add("triplet_margin_with_distance_loss", [](In x) {
    return F::triplet_margin_with_distance_loss(
        x[0], x[1], x[2],
        F::TripletMarginWithDistanceLossFuncOptions()
            .distance_function(manhattan)
            .margin(2.5)
            .swap(true)
            .reduction(kSum));
  });
  add("ctc_loss", [](In x) {
    return F::ctc_loss(
        x[0], x[1], x[2], x[3],
        F::CTCLossFuncOptions().blank(3).zero_infinity(true).reduction(kSum));
  });
}

TEST(Loss, GivesWhatPyTorchGives) {
  NnCases all;
  add_element_functions(all);
  add_class_functions(all);
  add_embedding_functions(all);
  add_elements(all);
  add_classes(all);
  add_embeddings(all);
  test::check_recorded("loss.safetensors", all);
}

TEST(Loss, TakesAReductionAlone) {
  const Tensor x = ones({2, 2}), y = zeros({2, 2});
  EXPECT_EQ(L1Loss(kSum)->forward(x, y).item<float>(), 4);
  EXPECT_EQ(MSELoss(kNone)->forward(x, y).sizes(), x.sizes());
  EXPECT_EQ(SmoothL1Loss(kSum)->forward(x, y).item<float>(), 2);
  EXPECT_EQ(HuberLoss(kSum)->forward(x, y).item<float>(), 2);
  EXPECT_EQ(KLDivLoss(kBatchMean)->options.reduction().name(), "batchmean");
}

TEST(Loss, PrintsWhatPythonPrints) {
  std::ostringstream out;
  out << *L1Loss() << ' ' << *CrossEntropyLoss() << ' '
      << *TripletMarginWithDistanceLoss();
  EXPECT_EQ(out.str(),
            "L1Loss() CrossEntropyLoss() TripletMarginWithDistanceLoss()");
}

// How much larger the first loss is than the second.
template <class Holder>
float gain(const Holder& with, const Holder& without, const Tensor& x,
           const Tensor& target) {
  const Tensor ratio = with->forward(x, target) / without->forward(x, target);
  return ratio.item<float>();
}

TEST(Loss, UsesTheWeightsOfItsOptions) {
  const Tensor w = full({2}, 3.0), x = full({1, 2}, 0.5), one = ones({1, 2});
  const Tensor target = zeros({1}, kLong);
  EXPECT_NEAR(gain(BCELoss(BCELossOptions().weight(w)), BCELoss(), x, one), 3,
              1e-4);
  EXPECT_NEAR(gain(BCEWithLogitsLoss(BCEWithLogitsLossOptions().weight(w)),
                   BCEWithLogitsLoss(), x, x),
              3, 1e-4);
  EXPECT_NEAR(gain(BCEWithLogitsLoss(BCEWithLogitsLossOptions().pos_weight(w)),
                   BCEWithLogitsLoss(), x, one),
              3, 1e-4);
  EXPECT_NEAR(gain(NLLLoss(NLLLossOptions().weight(w).reduction(kSum)),
                   NLLLoss(NLLLossOptions().reduction(kSum)), x, target),
              3, 1e-4);
  EXPECT_NEAR(gain(CrossEntropyLoss(
                       CrossEntropyLossOptions().weight(w).reduction(kSum)),
                   CrossEntropyLoss(CrossEntropyLossOptions().reduction(kSum)),
                   x, target),
              3, 1e-4);
  EXPECT_NEAR(gain(MultiMarginLoss(MultiMarginLossOptions().weight(w)),
                   MultiMarginLoss(), x, target),
              3, 1e-4);
  EXPECT_NEAR(gain(MultiLabelSoftMarginLoss(
                       MultiLabelSoftMarginLossOptions().weight(w)),
                   MultiLabelSoftMarginLoss(), x, one),
              3, 1e-4);
}

TEST(Loss, KeepsWeightsAsBuffersOfItsOwn) {
  const Tensor w = ones({2});
  const BCEWithLogitsLoss m(
      BCEWithLogitsLossOptions().weight(w).pos_weight(w * 2));
  EXPECT_EQ(m->named_buffers().size(), 2u);
  EXPECT_TRUE(m->get_buffer("weight").is_same(m->weight));
  EXPECT_TRUE(m->get_buffer("pos_weight").is_same(m->pos_weight));
  m->to(kDouble);
  EXPECT_EQ(m->weight.scalar_type(), kDouble);
  EXPECT_EQ(w.scalar_type(), kFloat);
  EXPECT_TRUE(NLLLoss()->state_dict().empty());
}

TEST(Loss, ResetTakesTheWeightOfTheOptions) {
  CrossEntropyLoss m(CrossEntropyLossOptions().weight(ones({2})));
  m->options.weight(full({3}, 0.5));
  m->reset();
  EXPECT_TRUE(equal(m->get_buffer("weight"), full({3}, 0.5)));
  EXPECT_TRUE(m->get_buffer("weight").is_same(m->weight));
  m->options.weight(Tensor());
  m->reset();
  EXPECT_TRUE(m->named_buffers().empty());
}

TEST(Loss, ClonesHaveTheirOwnWeights) {
  const NLLLoss m(NLLLossOptions().weight(ones({2})).reduction(kSum));
  const auto copy = clone(m.ptr());
  copy->weight.zero_();
  EXPECT_TRUE(copy->get_buffer("weight").is_same(copy->weight));
  EXPECT_TRUE(equal(m->weight, ones({2})));
  const Tensor x = full({1, 2}, -1.0), target = zeros({1}, kLong);
  EXPECT_EQ(copy->forward(x, target).item<float>(), 0);
  EXPECT_EQ(m->forward(x, target).item<float>(), 1);
}

TEST(Loss, PassesGradientsToAWeightThatRequiresOne) {
  const Tensor w = ones({2}).requires_grad_();
  const MultiLabelSoftMarginLoss m(MultiLabelSoftMarginLossOptions().weight(w));
  m->forward(ones({1, 2}), ones({1, 2})).backward();
  EXPECT_TRUE(allclose(w.grad(), log_sigmoid(ones({2})) / -2));
  const auto copy = clone(m.ptr());
  EXPECT_FALSE(copy->weight.is_same(w));
  EXPECT_TRUE(copy->weight.requires_grad());
}

TEST(Loss, NamesWrongOptions) {
  SY_EXPECT_ERROR(SmoothL1Loss(SmoothL1LossOptions().beta(-1)), ValueError,
                  "[SmoothL1Loss] beta: expected at least 0, got -1.0");
  SY_EXPECT_ERROR(HuberLoss(HuberLossOptions().delta(0)), ValueError,
                  "[HuberLoss] delta: expected more than 0, got 0.0");
  SY_EXPECT_ERROR(
      CrossEntropyLoss(CrossEntropyLossOptions().label_smoothing(1.5)),
      ValueError,
      "[CrossEntropyLoss] label_smoothing: expected a number in [0, 1], got "
      "1.5");
  SY_EXPECT_ERROR(MultiMarginLoss(MultiMarginLossOptions().p(3)), ValueError,
                  "[MultiMarginLoss] p: expected 1 or 2, got 3");
  SY_EXPECT_ERROR(
      MultiMarginLoss(MultiMarginLossOptions().weight(ones({2, 2}))),
      ValueError, "[MultiMarginLoss] weight: expected 1 dim, got ");
  SY_EXPECT_ERROR(TripletMarginLoss(TripletMarginLossOptions().margin(0)),
                  ValueError,
                  "[TripletMarginLoss] margin: expected more than 0, got 0.0");
  SY_EXPECT_ERROR(
      TripletMarginWithDistanceLoss(
          TripletMarginWithDistanceLossOptions().margin(-1)),
      ValueError,
      "[TripletMarginWithDistanceLoss] margin: expected more than 0, got -1.0");
  SY_EXPECT_ERROR(
      F::smooth_l1_loss(ones({2}), ones({2}), SmoothL1LossOptions().beta(2), 1),
      ValueError,
      "[smooth_l1_loss] options: expected none for beta, which is an argument, "
      "got 2.0");
}

TEST(Loss, NamesWrongInputs) {
  const Tensor x = ones({2, 3});
  SY_EXPECT_ERROR(GaussianNLLLoss()->forward(x, x, ones({3})), ValueError,
                  "[gaussian_nll_loss] var: expected the sizes [2, 3] of the "
                  "input, these with one 1 in them, or these without the last, "
                  "got [3]");
  SY_EXPECT_ERROR(GaussianNLLLoss()->forward(x, x, ones({1, 1})), ValueError,
                  "got [1, 1]");
  SY_EXPECT_ERROR(GaussianNLLLoss()->forward(x, x, -x), ValueError,
                  "[gaussian_nll_loss] var: expected variances of at least 0");
  SY_EXPECT_ERROR(
      MultiLabelSoftMarginLoss()->forward(ones({}), ones({})), ValueError,
      "[multilabel_soft_margin_loss] input: expected at least one dim, got ");
  SY_EXPECT_ERROR(
      F::triplet_margin_with_distance_loss(
          x, x, x, TripletMarginWithDistanceLossOptions().margin(0)),
      ValueError,
      "[triplet_margin_with_distance_loss] margin: expected more than 0, got "
      "0.0");
  SY_EXPECT_ERROR(NLLLoss()->forward(x, zeros({3}, kLong)), ValueError,
                  "[nll_loss");
  SY_EXPECT_ERROR(BCELoss()->forward(full({4, 3}, 0.5), ones({4, 1})),
                  ValueError,
                  "[binary_cross_entropy] target: expected the sizes [4, 3] of "
                  "the input, got [4, 1]");
  SY_EXPECT_ERROR(BCEWithLogitsLoss()->forward(ones({4, 3}), ones({4, 1})),
                  ValueError,
                  "[binary_cross_entropy_with_logits] target: expected the "
                  "sizes [4, 3] of the input, got [4, 1]");
}

TEST(Loss, GaussianLossNeedsNoElements) {
  const Tensor x = empty({4, 3}, TensorOptions().device(Device(kMeta)));
  EXPECT_EQ(GaussianNLLLoss(GaussianNLLLossOptions().reduction(kNone))
                ->forward(x, x, x)
                .sizes(),
            x.sizes());
}

}  // namespace
}  // namespace sy::nn
