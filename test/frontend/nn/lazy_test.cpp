#include "frontend/nn/modules/lazy.h"

#include <gtest/gtest.h>
#include <sy/sy.h>

#include "test/c10/expect_error.h"

namespace sy::test {
namespace {

TEST(LazyModules, LearnTheirChannelsFromTheInput) {
  nn::LazyLinear linear(3);
  EXPECT_TRUE(linear->has_uninitialized_params());
  EXPECT_EQ(linear(randn({2, 5})).sizes(), (IntArrayRef{2, 3}));
  EXPECT_FALSE(linear->has_uninitialized_params());
  EXPECT_EQ(linear->weight.sizes(), (IntArrayRef{3, 5}));
  EXPECT_EQ(linear->options.in_features(), 5);
  SY_EXPECT_ERROR(linear(randn({2, 6})), ValueError, "in LazyLinear");

  nn::LazyConv2d conv(nn::Conv2dOptions(0, 8, 3).groups(2).padding(1));
  EXPECT_EQ(conv(randn({2, 6, 5, 5})).sizes(), (IntArrayRef{2, 8, 5, 5}));
  EXPECT_EQ(conv->weight.sizes(), (IntArrayRef{8, 3, 3, 3}));
  nn::LazyConvTranspose1d transposed(4, 3);
  EXPECT_EQ(transposed(randn({2, 6, 5})).sizes(), (IntArrayRef{2, 4, 7}));

  nn::LazyBatchNorm2d norm;
  norm(randn({4, 7, 3, 3}));
  EXPECT_EQ(norm->running_mean.sizes(), (IntArrayRef{7}));
  nn::LazyInstanceNorm1d instance(nn::InstanceNormOptions(0).affine(true));
  instance(randn({7, 3}));
  EXPECT_EQ(instance->weight.sizes(), (IntArrayRef{7}));
  nn::LazyBatchNorm1d flat;
  EXPECT_EQ(flat(randn({4, 7})).sizes(), (IntArrayRef{4, 7}));
}

TEST(LazyModules, KeepTheirTensors) {
  nn::LazyLinear linear(3);
  linear->to(kDouble);
  const Tensor weight = linear->weight;
  linear(randn({2, 5}, kDouble)).sum().backward();
  EXPECT_TRUE(linear->weight.is_same(weight));
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_EQ(weight.scalar_type(), kDouble);
  EXPECT_EQ(weight.grad().sizes(), (IntArrayRef{3, 5}));
}

TEST(LazyModules, LearnFromAStateDict) {
  nn::Linear real(5, 3);
  nn::LazyLinear linear(3);
  linear->load_state_dict(real->state_dict());
  const Tensor x = randn({2, 5});
  EXPECT_TRUE(equal(linear(x), real(x)));
  nn::Conv2d conv(nn::Conv2dOptions(4, 8, 3).groups(2));
  nn::LazyConv2d lazy(nn::Conv2dOptions(0, 8, 3).groups(2));
  lazy->load_state_dict(conv->state_dict());
  EXPECT_EQ(lazy->options.in_channels(), 4);
  nn::BatchNorm1d norm(6);
  nn::LazyBatchNorm1d lazy_norm;
  lazy_norm->load_state_dict(norm->state_dict());
  EXPECT_EQ(lazy_norm->running_var.size(0), 6);
}

TEST(LazyModules, AreClonedBeforeAndAfter) {
  nn::LazyLinear linear(3);
  const nn::LazyLinear before = nn::clone(linear.ptr());
  before(randn({2, 4}));
  EXPECT_TRUE(linear->has_uninitialized_params());
  EXPECT_FALSE(before->has_uninitialized_params());
}

TEST(LazyModules, RefuseInputsWithoutChannels) {
  SY_EXPECT_ERROR(nn::LazyConv2d(3, 3)(randn({5})), ValueError,
                  "[LazyConv2d] input: expected one with channels, got sizes "
                  "[5]");
}

}  // namespace
}  // namespace sy::test
