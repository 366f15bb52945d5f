#include <gtest/gtest.h>
#include <sy/cuda.h>
#include <sy/sy.h>

#include <vector>

#include "ema.h"

// The example in the tree, on the fake driver.

namespace {

using sy::Tensor;

class OwnCudaOp : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    sy::load_library("cuda").keep();
    ASSERT_TRUE(sy::cuda::is_available()) << sy::cuda::why_unavailable();
  }
};

TEST_F(OwnCudaOp, HasTheNumbersOfTheCpu) {
  sy::manual_seed(1);
  const std::vector<std::vector<int64_t>> all = {
      {5}, {3, 7}, {300, 2, 9}, {0, 4}};
  for (const std::vector<int64_t>& sizes : all) {
    const Tensor x = sy::randn(sizes);
    const Tensor y = own_cuda::ema(x.cuda(), 0.75);
    EXPECT_TRUE(y.is_cuda());
    EXPECT_TRUE(y.cpu().equal(own_cuda::ema(x, 0.75)));
  }
}

TEST_F(OwnCudaOp, HasAGradient) {
  const Tensor x = sy::ones({1, 4}).cuda().requires_grad_();
  own_cuda::ema(x, 0.5).sum().backward();
  EXPECT_TRUE(x.grad().is_cuda());
  EXPECT_TRUE(x.grad().cpu().equal(
      sy::tensor({0.9375f, 0.875f, 0.75f, 0.5f}).view({1, 4})));
}

TEST_F(OwnCudaOp, ChecksItsArguments) {
  EXPECT_THROW(own_cuda::ema(sy::ones({2}, sy::kDouble).cuda(), 0.5),
               sy::Error);
  EXPECT_THROW(own_cuda::ema(sy::ones({}).cuda(), 0.5), sy::Error);
}

TEST_F(OwnCudaOp, TakesViews) {
  const Tensor x = sy::arange(12).to(sy::kFloat).view({3, 4});
  EXPECT_TRUE(
      own_cuda::ema(x.cuda().t(), 0.5).cpu().equal(own_cuda::ema(x.t(), 0.5)));
}

}  // namespace
