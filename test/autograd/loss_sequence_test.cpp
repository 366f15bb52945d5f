#include <cmath>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/factory.h"
#include "aten/ops/loss_sequence.h"
#include "aten/ops/random.h"
#include "aten/ops/segment.h"
#include "aten/tensor_new.h"
#include "autograd/gradcheck.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

Tensor scores(IntArrayRef sizes) {
  manual_seed(1);
  return randn(sizes, kDouble);
}

// Gradients by normalized log-probabilities alone: through log_softmax.
TEST(CtcLoss, GradientsAreThoseOfFiniteDifferences) {
  const Tensor labels = tensor({{1, 3, 3}, {2, 1, 2}});
  for (const int64_t reduction : {0, 1, 2}) {
    const auto loss = [&](TensorList x) {
      return ctc_loss(log_softmax(x[0], -1), labels, {6, 4}, {3, 1}, 0,
                      reduction);
    };
    const auto r =
        autograd::gradcheck(loss, {scores({6, 2, 4}).requires_grad_()});
    EXPECT_TRUE(r.ok()) << r.problem;
  }
}

TEST(CtcLoss, AnImpossibleSequenceHasNoGradientIfAsked) {
  const Tensor x = scores({3, 1, 4}).requires_grad_();
  const Tensor labels = tensor({{2, 2, 2}});  // needs 5 steps
  const Tensor p = log_softmax(x, -1);
  EXPECT_EQ(ctc_loss(p, labels, {3}, {3}, 0, 2).item<double>(), HUGE_VAL);
  ctc_loss(p, labels, {3}, {3}, 0, 2, true).backward();
  EXPECT_EQ(x.grad().abs().sum().item<double>(), 0);
}

TEST(CtcLoss, LabelsAreClasses) {
  const Tensor p = log_softmax(scores({3, 1, 4}), -1);
  SY_EXPECT_ERROR(_ctc_loss(p, tensor({{1, 4}}), {3}, {2}), IndexError,
                  "[_ctc_loss] targets: expected a class in [0, 3], got 4");
  // The loss does not look at labels beyond the sequence.
  _ctc_loss(p, tensor({{1, 4}}), {3}, {1});
}

TEST(CtcLoss, TargetsAreRowsOrAllLabels) {
  const Tensor p = log_softmax(scores({3, 1, 4}), -1);
  SY_EXPECT_ERROR(_ctc_loss(p, tensor(1), {3}, {1}), ValueError,
                  "[_ctc_loss] targets: expected a row for each sequence, or "
                  "the labels of all one after the other, got targets.dim() = "
                  "0");
  SY_EXPECT_ERROR(_ctc_loss(p, tensor({1, 2}), {3}, {1}), ValueError,
                  "got targets.dim() = 1, targets.size(0) = 2, "
                  "sum(target_lengths) = 1");
}

TEST(CtcLoss, LengthsAreIntegers) {
  const Tensor p = log_softmax(scores({3, 1, 4}), -1);
  SY_EXPECT_ERROR(ctc_loss(p, tensor({{1, 2}}), tensor({3.0}), tensor({2})),
                  ValueError,
                  "[ctc_loss] input_lengths: expected int64 or int32 lengths");
}

TEST(SegmentReduce, SegmentsLieWithinTheDim) {
  const Tensor x = ones({4, 2});
  const auto by_lengths = [&](const Tensor& lengths, bool unsafe) {
    return segment_reduce(x, "sum", lengths, std::nullopt, std::nullopt, 0,
                          unsafe);
  };
  SY_EXPECT_ERROR(by_lengths(tensor({1, 2}), false), ValueError,
                  "lengths: expected numbers that add up to 4, got a sum of 3");
  EXPECT_EQ(by_lengths(tensor({1, 2}), true).sum().item<float>(), 6);
  for (const bool unsafe : {false, true}) {
    SY_EXPECT_ERROR(by_lengths(tensor({3, 2}), unsafe), ValueError,
                    "lengths: expected numbers that add up to at most 4");
    SY_EXPECT_ERROR(by_lengths(tensor({5, -1}), unsafe), ValueError,
                    "lengths: expected numbers in [0, 4], got 5");
  }
  SY_EXPECT_ERROR(
      segment_reduce(x, "sum", std::nullopt, std::nullopt, tensor({0, 3, 2})),
      ValueError, "offsets: expected numbers that do not fall, up to 4, got 2");
}

}  // namespace
}  // namespace sy
