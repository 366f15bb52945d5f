#include "frontend/nn/modules/adaptive.h"

#include <gtest/gtest.h>

#include <sstream>

#include "sy/sy.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/recorded.h"

namespace sy::test {
namespace {

using nn::AdaptiveLogSoftmaxWithLoss;
using Options = nn::AdaptiveLogSoftmaxWithLossOptions;
using Tensors = std::vector<Tensor>;

NnCase adaptive(const Options& options, NnCase::Run run) {
  return {[options] { return AdaptiveLogSoftmaxWithLoss(options).ptr(); }, run};
}

Tensors both(nn::Module* m, const Tensors& in) {
  const auto r = m->as<AdaptiveLogSoftmaxWithLoss>()->forward(in[0], in[1]);
  return {r.output.reshape({-1}), r.loss.reshape({-1})};
}

TEST(Adaptive, MatchesPyTorch) {
  const auto two = Options(8, 10, {2, 5}).div_value(2);
  NnCases cases;
  cases["forward"] = adaptive(two, both);
  cases["head_bias"] = adaptive(Options(8, 10, {4}).head_bias(true), both);
  cases["shortlist_alone"] = adaptive(Options(4, 4, {3}), both);
  cases["vector"] = adaptive(Options(4, 4, {2}), both);
  cases["log_prob"] = adaptive(two, [](nn::Module* m, const Tensors& in) {
    return Tensors{m->as<AdaptiveLogSoftmaxWithLoss>()->log_prob(in[0])};
  });
  cases["predict"] = adaptive(two, [](nn::Module* m, const Tensors& in) {
    return Tensors{m->as<AdaptiveLogSoftmaxWithLoss>()->predict(in[0])};
  });
  check_recorded("adaptive.safetensors", cases);
}

TEST(Adaptive, ForwardIsThatOfAllProbabilities) {
  AdaptiveLogSoftmaxWithLoss m(16, 10, std::vector<int64_t>{2, 5});
  const Tensor x = randn({10, 16}), all = m->log_prob(x);
  EXPECT_TRUE(allclose(all.exp().sum(1), ones({10}), 1e-5, 1e-5));
  const auto [output, loss] = m(x, arange(10));
  EXPECT_TRUE(allclose(output, all.diagonal(), 1e-5, 1e-5));
  EXPECT_TRUE(allclose(loss, -output.mean()));
  EXPECT_EQ(output.dim(), 1);
  EXPECT_EQ(m(x[0], tensor(3)).output.dim(), 0);
  EXPECT_EQ(loss.dim(), 0);
  // Predictions from the shortlist alone, from clusters alone, and from both.
  const Tensor best = all.argmax(1);
  EXPECT_TRUE(equal(m->predict(x), best));
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(equal(m->predict(x.narrow(0, i, 1)), best.narrow(0, i, 1)));
  }
}

TEST(Adaptive, ClonesResetsAndPrints) {
  AdaptiveLogSoftmaxWithLoss m(16, 10, std::vector<int64_t>{2, 5});
  const Tensor x = randn({3, 16}), before = m->log_prob(x);
  const auto copy =
      std::static_pointer_cast<nn::AdaptiveLogSoftmaxWithLossImpl>(m->clone());
  m->reset_parameters();
  EXPECT_FALSE(equal(m->log_prob(x), before));
  m->reset();
  EXPECT_EQ(m->parameters().size(), 5u);
  EXPECT_TRUE(equal(copy->log_prob(x), before));
  EXPECT_EQ(m->head_size, 4);
  std::ostringstream stream;
  stream << AdaptiveLogSoftmaxWithLoss(4, 4, std::vector<int64_t>{2});
  EXPECT_EQ(stream.str(), R"(AdaptiveLogSoftmaxWithLoss(
  (head): Linear(in_features=4, out_features=3, bias=False)
  (tail): ModuleList(
    (0): Sequential(
      (0): Linear(in_features=4, out_features=1, bias=False)
      (1): Linear(in_features=1, out_features=2, bias=False)
    )
  )
))");
}

TEST(Adaptive, BadArgumentsAreNamed) {
  const auto make = [](std::vector<int64_t> cutoffs) {
    return AdaptiveLogSoftmaxWithLoss(8, 10, std::move(cutoffs));
  };
  SY_EXPECT_ERROR(make({}), ValueError,
                  "[AdaptiveLogSoftmaxWithLoss] cutoffs: expected at least "
                  "one, got []");
  SY_EXPECT_ERROR(make({5, 2}), ValueError,
                  "cutoffs: expected numbers that rise within [1, 9], got [5, "
                  "2]");
  SY_EXPECT_ERROR(make({2, 2}), ValueError, "got [2, 2]");
  SY_EXPECT_ERROR(make({0, 2}), ValueError, "got [0, 2]");
  SY_EXPECT_ERROR(make({2, 10}), ValueError, "got [2, 10]");
  SY_EXPECT_ERROR(AdaptiveLogSoftmaxWithLoss(Options(8, 10, {2}).div_value(0)),
                  ValueError, "div_value: expected a positive number, got 0");
  AdaptiveLogSoftmaxWithLoss m = make({2});
  SY_EXPECT_ERROR(m(randn({2, 8}), tensor({1, 10})), ValueError,
                  "target: expected classes within [0, 9], got 1 to 10");
  SY_EXPECT_ERROR(m(randn({2, 8}), tensor({-1, 3})), ValueError,
                  "target: expected classes within [0, 9], got -1 to 3");
  SY_EXPECT_ERROR(m(randn({2, 8}), tensor({1})), ValueError,
                  "input: expected the sizes of target, [1], and 8 features");
  SY_EXPECT_ERROR(m(randn({2, 8}), tensor({{1}, {2}})), ValueError,
                  "target: expected a vector, or no dims without a batch, got");
}

}  // namespace
}  // namespace sy::test
