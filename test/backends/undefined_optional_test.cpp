#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/loss.h"
#include "aten/ops/loss_ranking.h"
#include "aten/ops/normalization.h"
#include "aten/ops/random.h"
#include "c10/device/generator.h"
#include "test/backends/device.h"

// An undefined tensor where a call may have none is none, as in ATen.

namespace sy::families {
namespace {

using OptionalTensor = std::optional<Tensor>;
using Call = std::function<Tensor(const OptionalTensor&)>;

void expect_as_none(const char* name, const Call& call) {
  SCOPED_TRACE(name);
  EXPECT_EQ(values(call(Tensor())), values(call(std::nullopt)));
}

TEST(UndefinedOptional, IsNone) {
  manual_seed(1);
  const Tensor x = randn({2, 4, 3}), scores = randn({2, 4});
  const Tensor classes = randint(4, {2}, kLong);
  expect_as_none("layer_norm", [&](const OptionalTensor& u) {
    return layer_norm(x, {3}, u, u);
  });
  expect_as_none("native_layer_norm", [&](const OptionalTensor& u) {
    return std::get<0>(native_layer_norm(x, {3}, u, u, 1e-5));
  });
  expect_as_none("native_group_norm", [&](const OptionalTensor& u) {
    return std::get<0>(native_group_norm(x, u, u, 2, 4, 3, 2, 1e-5));
  });
  expect_as_none("_fused_rms_norm", [&](const OptionalTensor& u) {
    return std::get<0>(_fused_rms_norm(x, {3}, u, 1e-5));
  });
  expect_as_none("nll_loss_forward", [&](const OptionalTensor& u) {
    return std::get<0>(nll_loss_forward(scores, classes, u, 1, -100));
  });
  expect_as_none("cross_entropy_loss", [&](const OptionalTensor& u) {
    return cross_entropy_loss(scores, classes, u);
  });
  expect_as_none("multi_margin_loss", [&](const OptionalTensor& u) {
    return multi_margin_loss(scores, classes, 1, 1, u);
  });
}

TEST(UndefinedOptional, IsNoneForGradients) {
  const auto gradient = [](const OptionalTensor& u) {
    manual_seed(2);
    const Tensor x = randn({2, 4, 3}).requires_grad_();
    layer_norm(x, {3}, u, u).pow(2).sum().backward();
    return x.grad();
  };
  expect_as_none("layer_norm", gradient);
  const auto by_scores = [](const OptionalTensor& u) {
    manual_seed(3);
    const Tensor scores = randn({2, 4}).requires_grad_();
    cross_entropy_loss(scores, randint(4, {2}, kLong), u).backward();
    return scores.grad();
  };
  expect_as_none("cross_entropy_loss", by_scores);
}

}  // namespace
}  // namespace sy::families
