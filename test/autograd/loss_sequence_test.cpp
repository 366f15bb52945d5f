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
