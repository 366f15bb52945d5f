#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/loss.h"
#include "aten/ops/loss_distance.h"
#include "aten/ops/loss_ranking.h"
#include "aten/ops/loss_spatial.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;
enum : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Tensor room(IntArrayRef sizes = {}) { return empty(sizes, kDouble); }

void expect_near(const Tensor& t, const Values& want) {
  const Values got = values(t);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], 1e-12) << i;
  }
}

Tensor scores() {
  return tensor({{-1.0, -2.0, -4.0}, {-8.0, -16.0, -32.0}}, kDouble);
}

TEST(Loss, SmoothL1AtItsEnds) {
  const double nan = NAN, inf = INFINITY;
  const Tensor x = tensor({0.0, 0.5, -2.0, inf, nan}, kFloat);
  const Tensor nothing = tensor({0.0, 0.0, 0.0, 0.0, 0.0}, kFloat);
  const auto loss = [&](double beta) {
    return values(smooth_l1_loss(x, nothing, kNone, beta));
  };
  const auto same = [](const Values& got, const Values& expected) {
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i] == expected[i] ||
                  (std::isnan(got[i]) && std::isnan(expected[i])))
          << i << ": " << got[i];
    }
  };
  same(loss(1), {0, 0.125, 1.5, inf, nan});
  same(loss(4), {0, 0.03125, 0.5, inf, nan});
  same(loss(0), {0, 0.5, 2, inf, nan});
  same(loss(inf), {0, 0, 0, nan, nan});
}

TEST(NllLoss, WeightsAndReductions) {
  const Tensor target = tensor({2, 0});
  const Tensor weight = tensor({1.0, 2.0, 3.0}, kDouble);
  Tensor total = room(), one = room();
  nll_loss_forward_out(one, total, scores(), target, weight, kMean, -100);
  EXPECT_EQ(values(one), Values{20.0 / 4});
  EXPECT_EQ(values(total), Values{4});
  nll_loss_forward_out(one, total, scores(), target, weight, kSum, -100);
  EXPECT_EQ(values(one), Values{20});
  Tensor each = room({2});
  nll_loss_forward_out(each, total, scores(), target, {}, kNone, -100);
  EXPECT_EQ(values(each), (Values{4, 8}));
}

TEST(NllLoss, IgnoredClasses) {
  Tensor total = room(), one = room();
  nll_loss_forward_out(one, total, scores(), tensor({1, -7}), {}, kMean, -7);
  EXPECT_EQ(values(one), Values{2});
  EXPECT_EQ(values(total), Values{1});
  nll_loss_forward_out(one, total, scores(), tensor({-7, -7}), {}, kMean, -7);
  EXPECT_TRUE(std::isnan(values(one)[0]));
}

TEST(NllLoss, Backward) {
  Tensor out = room({2, 3});
  const Tensor weight = tensor({1.0, 2.0, 3.0}, kDouble);
  nll_loss_backward_out(out, tensor(8.0, kDouble), scores(), tensor({2, 0}),
                        weight, kMean, -100, tensor(4.0, kDouble));
  EXPECT_EQ(values(out), (Values{0, 0, -6, -2, 0, 0}));
  nll_loss_backward_out(out, tensor({5.0, 7.0}, kDouble), scores(),
                        tensor({2, 0}), {}, kNone, 0, tensor(0.0, kDouble));
  EXPECT_EQ(values(out), (Values{0, 0, -5, 0, 0, 0}));
}

TEST(NllLoss, ClassesOutOfRange) {
  Tensor total = room(), one = room();
  SY_EXPECT_ERROR(nll_loss_forward_out(one, total, scores(), tensor({0, 3}), {},
                                       kMean, -100),
                  IndexError,
                  "[nll_loss_forward] target: expected a class in [0, 2], got "
                  "3");
}

TEST(NllLoss, ArgumentsAreCheckedBeforeAnyKernel) {
  const Tensor target = tensor({0, 1});
  SY_EXPECT_ERROR(nll_loss(scores(), target, tensor({1.0}, kDouble)),
                  ValueError,
                  "[nll_loss_forward] weight: expected one element for each "
                  "class, got weight.dim() = 1, weight.size(0) = 1, "
                  "self.size(-1) = 3");
  SY_EXPECT_ERROR(nll_loss(scores(), target, tensor({1.0, 1.0, 1.0})),
                  ValueError,
                  "[nll_loss_forward] weight: expected the dtype of self");
  const auto backward = [&](const Tensor& grad, const Tensor& total) {
    nll_loss_backward(grad, scores(), target, {}, kMean, -100, total);
  };
  backward(tensor(1.0, kDouble), tensor(1.0, kDouble));
  SY_EXPECT_ERROR(backward(tensor({1.0, 1.0}, kDouble), tensor(1.0, kDouble)),
                  ValueError,
                  "[nll_loss_backward] grad_output: expected one element for "
                  "each of the loss");
  SY_EXPECT_ERROR(backward(tensor(1.0, kDouble), tensor({1.0, 1.0}, kDouble)),
                  ValueError,
                  "[nll_loss_backward] total_weight: expected one element");
}

// The logarithm of the softmax of a row, for comparison.
Values log_softmax(const Values& x) {
  double sum = 0;
  for (const double v : x) sum += std::exp(v);
  Values out;
  for (const double v : x) out.push_back(v - std::log(sum));
  return out;
}

TEST(CrossEntropy, Classes) {
  const Values a = log_softmax({-1, -2, -4}), b = log_softmax({-8, -16, -32});
  const Tensor target = tensor({2, 0});
  expect_near(cross_entropy_loss(scores(), target), {-(a[2] + b[0]) / 2});
  expect_near(cross_entropy_loss(scores(), target, {}, kNone), {-a[2], -b[0]});
  const double smooth_a = -(a[0] + a[1] + a[2]) / 3;
  const double smooth_b = -(b[0] + b[1] + b[2]) / 3;
  expect_near(cross_entropy_loss(scores(), target, {}, kNone, -100, 0.3),
              {-0.7 * a[2] + 0.3 * smooth_a, -0.7 * b[0] + 0.3 * smooth_b});
  expect_near(cross_entropy_loss(scores(), target, {}, kMean, 0, 0.3),
              {-0.7 * a[2] + 0.3 * smooth_a});
}

TEST(CrossEntropy, Probabilities) {
  const Values a = log_softmax({-1, -2, -4}), b = log_softmax({-8, -16, -32});
  const Tensor target = tensor({{0.5, 0.5, 0.0}, {0.0, 0.25, 0.75}}, kDouble);
  expect_near(cross_entropy_loss(scores(), target, {}, kNone),
              {-(a[0] + a[1]) / 2, -(b[1] + 3 * b[2]) / 4});
  const Tensor weight = tensor({1.0, 2.0, 4.0}, kDouble);
  expect_near(cross_entropy_loss(scores(), target, weight, kMean),
              {-(0.5 * a[0] + a[1] + 0.5 * b[1] + 3 * b[2]) / 2});
  SY_EXPECT_ERROR(cross_entropy_loss(scores(), target, {}, kMean, 1),
                  ValueError, "[cross_entropy_loss] ignore_index");
}

TEST(CrossEntropy, MoreDims) {
  const Tensor x = tensor({{{1.0, 2.0}, {3.0, 5.0}}}, kDouble);
  const Values a = log_softmax({1, 3}), b = log_softmax({2, 5});
  const Tensor loss = cross_entropy_loss(x, tensor({{1, 0}}), {}, kNone);
  EXPECT_EQ(loss.sizes(), IntArrayRef({1, 2}));
  expect_near(loss, {-a[1], -b[0]});
  SY_EXPECT_ERROR(cross_entropy_loss(x, tensor({{1, 0, 1}})), ValueError,
                  "[nll_loss_nd] target: expected sizes [1, 2]");
}

TEST(NllLoss2d, OfStridedOutputsAndTargetsOutOfRange) {
  const Tensor scores =
      tensor({-1.0, -2.0, -4.0, -8.0}, kDouble).reshape({1, 2, 1, 2});
  Tensor total = room(), one = room(), wide = room({1, 1, 4});
  Tensor each = wide.as_strided({1, 1, 2}, {4, 4, 2}, 1);
  nll_loss2d_forward_out(each, total, scores, tensor({1, 0}).reshape({1, 1, 2}),
                         {}, kNone, -100);
  EXPECT_EQ(values(each), (Values{4, 2}));
  nll_loss2d_forward_out(one, total, scores, tensor({1, 7}).reshape({1, 1, 2}),
                         {}, kMean, 7);
  EXPECT_EQ(values(total), Values{1});
  SY_EXPECT_ERROR(nll_loss2d_forward_out(one, total, scores,
                                         tensor({1, 2}).reshape({1, 1, 2}), {},
                                         kMean, -100),
                  IndexError, "target: expected a class in [0, 1], got 2");
}

TEST(MarginLosses, TargetsOutOfRange) {
  Tensor out = room(), marks = room({3});
  const Tensor row = tensor({1.0, 2.0, 4.0}, kDouble);
  SY_EXPECT_ERROR(multi_margin_loss_out(out, row, tensor(3), Scalar(1),
                                        Scalar(1), {}, kMean),
                  IndexError, "target: expected a class in [0, 2], got 3");
  SY_EXPECT_ERROR(
      multi_margin_loss(row, tensor(1), 1, 1, tensor({1.0}, kDouble)),
      ValueError,
      "[multi_margin_loss] weight: expected one element for each class");
  SY_EXPECT_ERROR(multilabel_margin_loss_forward_out(out, marks, row,
                                                     tensor({0, -1, 3}), kMean),
                  IndexError,
                  "target: expected a class in [0, 2] or -1, got 3");
  multilabel_margin_loss_forward_out(out, marks, row, tensor({2, -1, 0}),
                                     kMean);
  EXPECT_EQ(values(marks), (Values{0, 0, 1}));
}

}  // namespace
}  // namespace sy::families
