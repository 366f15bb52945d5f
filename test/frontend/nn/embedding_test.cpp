#include "frontend/nn/modules/embedding.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/embedding.h"
#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"
#include "test/frontend/nn/text.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using test::printed;
using test::value_error;
using In = const std::vector<Tensor>&;

// The result and the weight, which max_norm changes.
template <class Holder>
test::NnCase renormalized(Holder (*make)()) {
  return {[make] { return make().ptr(); },
          [](Module* m, In x) {
            auto* const impl = m->as<Holder>();
            const Tensor y = impl->forward(x[0]);
            return std::vector<Tensor>{y, impl->weight};
          }};
}

test::NnCases embeddings() {
  return {
      {"Embedding", module_case(+[] { return Embedding(5, 2); })},
      {"Embedding_padding", module_case(+[] {
         return Embedding(EmbeddingOptions(5, 2).padding_idx(-4));
       })},
      {"Embedding_frequency", module_case(+[] {
         return Embedding(EmbeddingOptions(5, 2).scale_grad_by_freq(true));
       })},
      {"Embedding_norm", renormalized(+[] {
         return Embedding(EmbeddingOptions(5, 3).max_norm(0.5));
       })},
      {"Embedding_norm_type", renormalized(+[] {
         return Embedding(EmbeddingOptions(5, 3).max_norm(0.5).norm_type(1));
       })},
  };
}

test::NnCases bags() {
  return {
      {"EmbeddingBag", module_case(+[] { return EmbeddingBag(5, 2); })},
      {"EmbeddingBag_sum", module_case(+[] {
         return EmbeddingBag(EmbeddingBagOptions(5, 2).mode(kSum));
       })},
      {"EmbeddingBag_max", module_case(+[] {
         return EmbeddingBag(EmbeddingBagOptions(5, 2).mode(kMax));
       })},
      {"EmbeddingBag_last", module_case(+[] {
         return EmbeddingBag(
             EmbeddingBagOptions(5, 2).include_last_offset(true));
       })},
      {"EmbeddingBag_padding", module_case(+[] {
         return EmbeddingBag(EmbeddingBagOptions(5, 2).padding_idx(-4));
       })},
      {"EmbeddingBag_frequency", module_case(+[] {
         return EmbeddingBag(
             EmbeddingBagOptions(5, 2).scale_grad_by_freq(true));
       })},
      {"EmbeddingBag_norm", renormalized(+[] {
         return EmbeddingBag(
             EmbeddingBagOptions(5, 3).max_norm(0.5).norm_type(1));
       })},
      {"EmbeddingBag_weights",
       {[] { return EmbeddingBag(EmbeddingBagOptions(5, 2).mode(kSum)).ptr(); },
        [](Module* m, In x) {
          return std::vector<Tensor>{
              m->as<EmbeddingBag>()->forward(x[0], {}, x[1])};
        }}},
  };
}

test::NnCases functions() {
  return {
      {"one_hot", function_case([](In x) { return F::one_hot(x[0]); })},
      {"one_hot_classes",
       function_case([](In x) { return F::one_hot(x[0], 5); })},
      {"embedding",
       function_case([](In x) { return F::embedding(x[0], x[1]); })},
      {"embedding_options", function_case([](In x) {
         return F::embedding(
             x[0], x[1],
             F::EmbeddingFuncOptions().padding_idx(-4).scale_grad_by_freq(
                 true));
       })},
      {"embedding_norm", function_case([](In x) {
         return F::embedding(
             x[0], x[1].detach(),
             F::EmbeddingFuncOptions().max_norm(0.5).norm_type(1));
       })},
      {"embedding_bag",
       function_case([](In x) { return F::embedding_bag(x[0], x[1]); })},
      {"embedding_bag_options", function_case([](In x) {
         return F::embedding_bag(x[0], x[1],
                                 F::EmbeddingBagFuncOptions()
                                     .offsets(x[2])
                                     .scale_grad_by_freq(true)
                                     .mode(kSum)
                                     .per_sample_weights(x[3])
                                     .include_last_offset(true)
                                     .padding_idx(2));
       })},
      {"embedding_bag_norm", function_case([](In x) {
         return F::embedding_bag(
             x[0], x[1].detach(),
             F::EmbeddingBagFuncOptions().max_norm(0.5).norm_type(1).mode(
                 kMax));
       })},
  };
}

TEST(Embedding, GivesWhatPyTorchGives) {
  test::NnCases all = embeddings();
  all.merge(bags());
  all.merge(functions());
  test::check_recorded("embedding.safetensors", all);
}

TEST(Embedding, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(Embedding(5, 2)), "Embedding(5, 2)");
  EXPECT_EQ(printed(Embedding(EmbeddingOptions(5, 2)
                                  .padding_idx(-1)
                                  .max_norm(0.5)
                                  .norm_type(1)
                                  .scale_grad_by_freq(true)
                                  .sparse(true))),
            "Embedding(5, 2, padding_idx=4, max_norm=0.5, norm_type=1.0, "
            "scale_grad_by_freq=True, sparse=True)");
  EXPECT_EQ(
      printed(EmbeddingBag(
          EmbeddingBagOptions(5, 2).mode(kMax).padding_idx(3).max_norm(1))),
      "EmbeddingBag(5, 2, max_norm=1.0, mode='max', padding_idx=3)");
}

TEST(Embedding, StartsAsNormalNumbersAndZerosForPadding) {
  const Embedding m(EmbeddingOptions(500, 8).padding_idx(-2));
  const Tensor w = m->weight.detach();
  EXPECT_EQ(w[498].abs().sum().item<float>(), 0);
  EXPECT_NEAR(w.mean().item<float>(), 0, 0.1);
  EXPECT_NEAR(w.std().item<float>(), 1, 0.1);
  EXPECT_EQ(EmbeddingBag(EmbeddingBagOptions(5, 2).padding_idx(1))
                ->weight.detach()[1]
                .abs()
                .sum()
                .item<float>(),
            0);
}

TEST(Embedding, TakesAWeight) {
  const Tensor w = randn({3, 2});
  const Embedding frozen = Embedding::from_pretrained(w);
  EXPECT_FALSE(frozen->weight.requires_grad());
  EXPECT_FALSE(w.requires_grad());
  EXPECT_EQ(frozen->weight.data_ptr(), w.data_ptr());
  EXPECT_TRUE(frozen->get_parameter("weight").is_same(frozen->weight));
  const Embedding tuned =
      Embedding::from_pretrained(w, EmbeddingFromPretrainedOptions()
                                        .freeze(false)
                                        .padding_idx(1)
                                        .max_norm(3)
                                        .norm_type(1)
                                        .scale_grad_by_freq(true)
                                        .sparse(true));
  EXPECT_TRUE(tuned->weight.requires_grad());
  EXPECT_EQ(printed(tuned),
            "Embedding(3, 2, padding_idx=1, max_norm=3.0, norm_type=1.0, "
            "scale_grad_by_freq=True, sparse=True)");
  const EmbeddingBag bag =
      EmbeddingBag::from_pretrained(w, EmbeddingBagFromPretrainedOptions()
                                           .freeze(false)
                                           .mode(kSum)
                                           .padding_idx(1)
                                           .max_norm(3)
                                           .norm_type(1)
                                           .scale_grad_by_freq(true)
                                           .sparse(true)
                                           .include_last_offset(true));
  EXPECT_TRUE(bag->weight.requires_grad());
  EXPECT_TRUE(bag->options.include_last_offset() && bag->options.sparse());
  EXPECT_EQ(printed(bag),
            "EmbeddingBag(3, 2, max_norm=3.0, norm_type=1.0, "
            "scale_grad_by_freq=True, mode='sum', padding_idx=1)");
  EXPECT_FALSE(EmbeddingBag::from_pretrained(w)->weight.requires_grad());
}

TEST(Embedding, ClonesHaveTheirOwnWeight) {
  const Embedding m = Embedding::from_pretrained(randn({3, 2}));
  const auto copy = clone(m.ptr());
  EXPECT_TRUE(equal(copy->weight, m->weight));
  EXPECT_NE(copy->weight.data_ptr(), m->weight.data_ptr());
  EXPECT_FALSE(copy->weight.requires_grad());
  EXPECT_TRUE(copy->get_parameter("weight").is_same(copy->weight));
}

TEST(Embedding, EmptyBagsAreZeros) {
  const Tensor y = EmbeddingBag(5, 2)->forward(empty({3, 0}, kLong));
  EXPECT_TRUE(equal(y.detach(), zeros({3, 2})));
}

TEST(Embedding, BagsHaveNoSparseGradients) {
  const Tensor x = zeros({1, 2}, kLong);
  const EmbeddingBag m(EmbeddingBagOptions(5, 2).sparse(true));
  EXPECT_THROW(m(x).sum().backward(), Error);
  const Tensor w = ones({5, 2}).requires_grad_();
  const auto o = F::EmbeddingBagFuncOptions().sparse(true);
  EXPECT_THROW(F::embedding_bag(x, w, o).sum().backward(), Error);
}

TEST(Embedding, NamesWrongOptions) {
  EXPECT_EQ(value_error([] { Embedding(-1, 2); }),
            "[Embedding] num_embeddings: expected at least 0, got -1");
  EXPECT_EQ(value_error(
                [] { EmbeddingBag(EmbeddingBagOptions(3, 2).padding_idx(3)); }),
            "[EmbeddingBag] padding_idx: expected one of 3 rows, got 3");
  EXPECT_EQ(
      value_error([] { Embedding(EmbeddingOptions(3, 2)._weight(ones({2}))); }),
      "[Embedding] _weight: expected sizes [3, 2], got [2]");
  EXPECT_EQ(value_error([] { Embedding::from_pretrained(ones({2})); }),
            "[Embedding::from_pretrained] embeddings: expected 2 dimensions, "
            "got 1");
  EXPECT_EQ(value_error([] {
              F::embedding(zeros({1}, kLong), ones({3, 2}),
                           F::EmbeddingFuncOptions().padding_idx(-4));
            }),
            "[embedding] padding_idx: expected one of 3 rows, got -4");
}

TEST(Embedding, NamesWrongBags) {
  const Tensor w = ones({3, 2}), flat = zeros({4}, kLong);
  const Tensor rows = zeros({2, 2}, kLong);
  const auto error = [&](const Tensor& x, F::EmbeddingBagFuncOptions o) {
    return value_error([&] { F::embedding_bag(x, w, o); });
  };
  using O = F::EmbeddingBagFuncOptions;
  EXPECT_EQ(error(flat, O()),
            "[embedding_bag] offsets: expected some for an input of 1 "
            "dimensions, got none");
  EXPECT_EQ(error(rows, O().offsets(flat)),
            "[embedding_bag] offsets: expected none for an input of 2 "
            "dimensions, got some");
  EXPECT_EQ(error(flat, O().offsets(rows)),
            "[embedding_bag] offsets: expected 1 dimension, got 2");
  EXPECT_EQ(error(zeros({1, 1, 1}, kLong), O()),
            "[embedding_bag] input: expected 1 or 2 dimensions, got 3");
  EXPECT_EQ(error(rows, O().per_sample_weights(ones({3})).mode(kSum)),
            "[embedding_bag] per_sample_weights: expected the sizes [2, 2] of "
            "the input, got [3]");
  EXPECT_EQ(error(rows, O().per_sample_weights(ones({2, 2}))),
            "[embedding_bag] per_sample_weights: expected none with the mode "
            "'mean', which is not 'sum'");
  EXPECT_EQ(error(rows, O().mode(kMax).sparse(true)),
            "[embedding_bag] sparse: expected false with the mode 'max', got "
            "true");
}

}  // namespace
}  // namespace sy::nn
