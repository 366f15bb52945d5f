#include <gtest/gtest.h>
#include <cmath>

#include <sy/sy.h>

// Calls with more results than 16 bits count.

namespace sy {
namespace {

TEST(ManyOutputs, EachHasItsGradient) {
  constexpr int64_t kParts = 70000;
  const Tensor x = ones({kParts, 1}).requires_grad_();
  const std::vector<Tensor> parts = x.unbind(0);
  ASSERT_EQ(parts.size(), size_t{kParts});
  (parts[0] + parts[4464] * 2 + parts[kParts - 1] * 3).sum().backward();
  const Tensor grad = x.grad();
  EXPECT_EQ(grad.sum().item<float>(), 6);
  EXPECT_EQ(grad[0].item<float>(), 1);
  EXPECT_EQ(grad[4464].item<float>(), 2);
  EXPECT_EQ(grad[kParts - 1].item<float>(), 3);
}

TEST(ManyOutputs, SavedResultsAreTheirOwn) {
  constexpr int64_t kParts = 70000;
  const Tensor x = arange(kParts, TensorOptions(kDouble)).requires_grad_();
  const std::vector<Tensor> parts = (x * 1e-5).unbind(0);
  const std::vector<Tensor> made = _foreach_exp(parts);
  made[kParts - 1].backward();
  EXPECT_NEAR(x.grad()[kParts - 1].item<double>(),
              1e-5 * std::exp((kParts - 1) * 1e-5), 1e-9);
  EXPECT_EQ(x.grad()[kParts - 1 - 65536].item<double>(), 0);
}

// 0 - shift overflowed: INT64_MIN stayed what it was, and so rolled the wrong
// way.
TEST(Roll, HasAGradientForTheLeastShift) {
  const Tensor x = rand({3}).requires_grad_();
  const Tensor w = arange(3, TensorOptions(kFloat));
  (x.roll({INT64_MIN}, {0}) * w).sum().backward();
  // -2^63 is 1 of three.
  EXPECT_TRUE(equal(x.roll({INT64_MIN}, {0}), x.roll({1}, {0})));
  EXPECT_TRUE(equal(x.grad(), w.roll({-1}, {0})));
}

// The order of the derivative was one beyond int64.
TEST(Polygamma, HasAGradientAtTheLastOrder) {
  const Tensor x = full({2}, 2.0f).requires_grad_();
  polygamma(INT64_MAX, x).sum().backward();
  EXPECT_TRUE(equal(x.grad(), zeros({2})));
}

TEST(Trilinear, RefusesMoreDimsThanThereAre) {
  const std::vector<int64_t> many(66, 0);
  EXPECT_THROW(
      _trilinear(ones({2}), ones({2}), ones({2}), many, {1}, {1}, {66}),
      ValueError);
}

TEST(RestoreDims, RefusesMoreDimsThanThereAre) {
  EXPECT_THROW(_restore_dims(ones({2}), 66, IntArrayRef({65}), false),
               ValueError);
  EXPECT_THROW(_restore_dims(ones({2}), -1, IntArrayRef({0}), false),
               ValueError);
}

}  // namespace
}  // namespace sy
