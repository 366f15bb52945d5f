#include "aten/ops/loss_sequence.h"

#include <cmath>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/backends/layouts.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

Tensor scores(IntArrayRef sizes) {
  manual_seed(1);
  return randn(sizes, kDouble);
}

// The number of ways to choose k of n, as a logarithm.
double log_choices(int64_t n, int64_t k) {
  const auto d = [](int64_t i) { return static_cast<double>(i); };
  return std::lgamma(d(n + 1)) - std::lgamma(d(k + 1)) -
         std::lgamma(d(n - k + 1));
}

// Where all classes are as likely, the loss counts alignments: of L labels, r
// of which equal those before them, with T steps there are as many as ways to
// choose 2 L of T + L - r.
TEST(CtcLoss, CountsAlignments) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const double classes = 5, t = dtype == kFloat ? 1e-4 : 1e-9;
    const Tensor x = full({9, 4, 5}, -std::log(classes), dtype);
    const Tensor targets = tensor({{1, 2, 3}, {1, 1, 1}, {4, 0, 0}, {2, 2, 0}});
    for (const ScalarType label : {kInt, kLong}) {
      const auto [losses, alpha] =
          _ctc_loss(x, targets.to(label), {9, 9, 4, 0}, {3, 3, 1, 0});
      const Values v = values(losses);
      EXPECT_EQ(losses.dtype(), dtype);
      EXPECT_NEAR(v[0], 9 * std::log(classes) - log_choices(12, 6), t);
      EXPECT_NEAR(v[1], 9 * std::log(classes) - log_choices(10, 6), t);
      EXPECT_NEAR(v[2], 4 * std::log(classes) - log_choices(5, 2), t);
      EXPECT_EQ(v[3], 0);  // no steps have no labels
    }
  }
}

TEST(CtcLoss, LabelsAreRowsOrOneAfterTheOther) {
  const Tensor p = log_softmax(scores({6, 2, 4}), -1);
  const Values rows = values(std::get<0>(
      _ctc_loss(p, tensor({{1, 3, 3}, {2, 1, 0}}), {6, 4}, {3, 2})));
  EXPECT_EQ(values(std::get<0>(
                _ctc_loss(p, tensor({1, 3, 3, 2, 1}), {6, 4}, {3, 2}))),
            rows);
  for (const auto& [name, x] : layouts(p)) {
    const Tensor turned = tensor({{1, 2}, {3, 1}, {3, 0}}).t();
    EXPECT_EQ(values(std::get<0>(_ctc_loss(x, turned, {6, 4}, {3, 2}))), rows)
        << name;
  }
  EXPECT_NEAR(ctc_loss(p, tensor({{1, 3, 3}, {2, 1, 0}}), tensor({6, 4}),
                       tensor({3, 2}))
                  .item<double>(),
              (rows[0] / 3 + rows[1] / 2) / 2, 1e-12);
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

}  // namespace
}  // namespace sy::families
