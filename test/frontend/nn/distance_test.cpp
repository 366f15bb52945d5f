#include "frontend/nn/modules/distance.h"

#include <gtest/gtest.h>

#include <sstream>

#include "frontend/nn/functional/distance.h"
#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using In = const std::vector<Tensor>&;

TEST(Distance, GivesWhatPyTorchGives) {
  using Cosine = CosineSimilarity;
  using CosineOptions = CosineSimilarityOptions;
  using Pair = PairwiseDistance;
  using PairOptions = PairwiseDistanceOptions;
  test::check_recorded(
      "distance.safetensors",
      {{"CosineSimilarity", module_case<Cosine>([] { return Cosine(); })},
       {"CosineSimilarity_dim",
        module_case<Cosine>([] { return Cosine(CosineOptions().dim(-1)); })},
       {"CosineSimilarity_eps",
        module_case<Cosine>([] { return Cosine(CosineOptions().eps(4)); })},
       {"PairwiseDistance", module_case<Pair>([] { return Pair(); })},
       {"PairwiseDistance_p",
        module_case<Pair>([] { return Pair(PairOptions().p(3)); })},
       {"PairwiseDistance_eps",
        module_case<Pair>([] { return Pair(PairOptions().eps(0.5)); })},
       {"PairwiseDistance_keepdim",
        module_case<Pair>([] { return Pair(PairOptions().keepdim(true)); })},
       {"cosine_similarity", function_case([](In x) {
          return F::cosine_similarity(
              x[0], x[1], F::CosineSimilarityFuncOptions().dim(2).eps(4));
        })},
       {"pairwise_distance", function_case([](In x) {
          return F::pairwise_distance(
              x[0], x[1],
              F::PairwiseDistanceFuncOptions().p(1).eps(0.5).keepdim(true));
        })},
       {"pairwise_distance_broadcast",
        function_case([](In x) { return F::pairwise_distance(x[0], x[1]); })},
       {"pdist", function_case([](In x) { return F::pdist(x[0]); })},
       {"pdist_p", function_case([](In x) { return F::pdist(x[0], 3); })}});
}

TEST(Distance, PrintsWhatPythonPrints) {
  std::ostringstream out;
  out << *CosineSimilarity() << ' ' << *PairwiseDistance();
  EXPECT_EQ(out.str(), "CosineSimilarity() PairwiseDistance()");
}

TEST(Distance, ClonesKeepOptions) {
  const auto copy = PairwiseDistance(PairwiseDistanceOptions().p(1))->clone();
  const Tensor d = copy->as<PairwiseDistance>()->forward(ones({3}), zeros({3}));
  EXPECT_NEAR(d.item<float>(), 3, 1e-5);
}

}  // namespace
}  // namespace sy::nn
