#include "frontend/nn/init.h"

#include <gtest/gtest.h>
#include <sy/sy.h>

#include <cmath>

#include "test/c10/expect_error.h"

namespace sy::test {
namespace {

using namespace nn::init;

double number(const Tensor& t) { return t.item().to<double>(); }

// A weight [out, in, 3] with enough elements for its variance.
Tensor weight() { return empty({200, 100, 3}); }

TEST(Init, HasTheVarianceOfItsFan) {
  const double in = 300, out = 600;
  const auto expect = [](const Tensor& t, double variance) {
    EXPECT_NEAR(number(t.var()) / variance, 1, 0.03);
    EXPECT_NEAR(number(t.mean()) / std::sqrt(variance), 0, 0.03);
  };
  manual_seed(1);
  expect(kaiming_uniform_(weight()), 2 / in);
  expect(kaiming_uniform_(weight(), std::sqrt(5)), 2 / 6.0 / in);
  expect(kaiming_normal_(weight(), 0, kFanOut, kReLU), 2 / out);
  expect(kaiming_normal_(weight(), 0, kFanIn, kTanh), 25 / 9.0 / in);
  expect(xavier_uniform_(weight()), 2 / (in + out));
  expect(xavier_normal_(weight(), 2), 8 / (in + out));
  const Tensor bounded = kaiming_uniform_(weight());
  EXPECT_LE(number(bounded.abs().amax()), std::sqrt(6 / in));
}

TEST(Init, Gains) {
  EXPECT_DOUBLE_EQ(calculate_gain(kReLU), std::sqrt(2));
  EXPECT_DOUBLE_EQ(calculate_gain(kTanh), 5. / 3);
  EXPECT_DOUBLE_EQ(calculate_gain(kSELU), 0.75);
  EXPECT_DOUBLE_EQ(calculate_gain(kLeakyReLU), std::sqrt(2 / 1.0001));
  EXPECT_DOUBLE_EQ(calculate_gain(kConvTranspose3D), 1);
  EXPECT_EQ(_calculate_fan_in_and_fan_out(weight()),
            std::make_tuple(int64_t{300}, int64_t{600}));
}

TEST(Init, Orthogonal) {
  manual_seed(2);
  const Tensor wide = orthogonal_(empty({4, 3, 2}), 2).view({4, 6});
  EXPECT_TRUE(allclose(mm(wide, wide.t()), eye(4) * 4, 1e-4, 1e-5));
  const Tensor tall = orthogonal_(empty({6, 4}));
  EXPECT_TRUE(allclose(mm(tall.t(), tall), eye(4), 1e-4, 1e-5));
  EXPECT_EQ(orthogonal_(empty({0, 4})).numel(), 0);
}

TEST(Init, Sparse) {
  const Tensor t = sparse_(empty({10, 4}), 0.25);
  EXPECT_TRUE(equal((t == 0).sum(0), full({4}, 3, kLong)));
}

TEST(Init, Constants) {
  EXPECT_TRUE(equal(eye_(empty({2, 3})), eye(2, 3)));
  EXPECT_TRUE(equal(constant_(empty({2}), 3), full({2}, 3.)));
  EXPECT_TRUE(equal(by_name("zeros_", empty({2})), zeros({2})));
  EXPECT_TRUE(equal(by_name("ones", empty({2})), ones({2})));
}

TEST(Init, DiracGivesItsInput) {
  const Tensor x = randn({1, 4, 6, 6});
  EXPECT_TRUE(
      equal(conv2d(x, dirac_(empty({4, 4, 3, 3})), {}, {1, 1}, {1, 1}), x));
  const Tensor grouped = dirac_(empty({4, 2, 3, 3}), 2);
  EXPECT_TRUE(equal(conv2d(x, grouped, {}, {1, 1}, {1, 1}, {1, 1}, 2), x));
}

TEST(Init, TruncatedNormal) {
  manual_seed(3);
  const Tensor t = trunc_normal_(empty({20000}), 1, 2, 0, 3);
  EXPECT_GE(number(t.amin()), 0);
  EXPECT_LE(number(t.amax()), 3);
  // The mean of a normal distribution cut at -0.5 and +1 standard deviations.
  EXPECT_NEAR(number(t.mean()), 1.4133, 0.02);
}

TEST(Init, LeavesTensorsWithoutElements) {
  EXPECT_EQ(kaiming_uniform_(empty({3, 0})).numel(), 0);
  EXPECT_EQ(kaiming_normal_(empty({0, 3})).numel(), 0);
  EXPECT_EQ(xavier_uniform_(empty({0, 0})).numel(), 0);
}

TEST(Init, RecordsNothing) {
  const Tensor t = empty({3, 3}).requires_grad_();
  EXPECT_TRUE(kaiming_uniform_(t).is_same(t));
  EXPECT_TRUE(t.is_leaf());
  EXPECT_TRUE(orthogonal_(t).is_leaf());
  EXPECT_TRUE(t.requires_grad());
}

TEST(Init, RefusesWhatItCannotFill) {
  SY_EXPECT_ERROR(kaiming_uniform_(empty({3})), ValueError,
                  "[kaiming_uniform_] tensor: expected at least 2 dims, got "
                  "sizes [3]");
  SY_EXPECT_ERROR(dirac_(empty({3, 3})), ValueError,
                  "expected 3, 4 or 5 dims, got sizes [3, 3]");
  SY_EXPECT_ERROR(dirac_(empty({3, 3, 3}), 2), ValueError,
                  "groups: expected a divisor of size 3, got 2");
  SY_EXPECT_ERROR(sparse_(empty({3, 3}), 1.5), ValueError,
                  "sparsity: expected from 0 to 1, got 1.5");
  SY_EXPECT_ERROR(trunc_normal_(empty({3}), 0, 1, 2, 1), ValueError,
                  "expected std > 0 and a < b");
  SY_EXPECT_ERROR(eye_(empty({3})), ValueError, "expected 2 dims");
  SY_EXPECT_ERROR(by_name("he", empty({3, 3})), ValueError,
                  "[init] name: expected one of dirac_, eye_, kaiming_normal_");
}

}  // namespace
}  // namespace sy::test
