#include <gtest/gtest.h>

#include <vector>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "autograd/api.h"

// Empty vectors go with tensors of any dims, as in PyTorch.

namespace sy {
namespace {

using Sizes = std::vector<int64_t>;

Tensor leaf(IntArrayRef sizes) { return ones(sizes, kDouble).requires_grad_(); }

void expect_gradients(const std::vector<Tensor>& tensors, const Tensor& y) {
  const Tensor weight = arange(y.numel(), kDouble).reshape(y.sizes());
  const std::vector<Tensor> first =
      autograd::grad((y * y * weight).sum(), tensors, {}, {}, true);
  std::vector<Tensor> sums;
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].sizes(), tensors[i].sizes());
    if (first[i].requires_grad()) sums.push_back(first[i].sum());
  }
  double total = 0;
  const std::vector<Tensor> second =
      autograd::grad(sums, tensors, {}, {}, false, true);
  for (size_t i = 0; i < second.size(); ++i) {
    if (tensors[i].numel() == 0) continue;
    EXPECT_TRUE(second[i].allclose(first[i]));
    total += second[i].sum().item<double>();
  }
  EXPECT_EQ(total, 2 * weight.sum().item<double>());
}

TEST(Cat, EmptyVectorsHaveGradients) {
  const Tensor none = leaf({0}), a = leaf({2, 3}), other = leaf({0}),
               b = leaf({2, 1});
  for (const int64_t dim : {1, -1}) {
    expect_gradients({none, a, b}, cat({none, a, b}, dim));
    expect_gradients({a, none, other, b}, cat({a, none, other, b}, dim));
    expect_gradients({a, none}, concat({a, none}, dim));
    expect_gradients({none, a}, concatenate({none, a}, dim));
  }
  const Tensor rows = leaf({1, 3}), deep = leaf({2, 3, 2}),
               deeper = leaf({2, 3, 2}), flat = leaf({2});
  for (const int64_t dim : {0, -2}) {
    expect_gradients({none, a, rows}, cat({none, a, rows}, dim));
  }
  for (int64_t dim = -3; dim < 3; ++dim) {
    expect_gradients({deep, none, deeper}, cat({deep, none, deeper}, dim));
  }
  expect_gradients({none, a, rows}, hstack({none, a, rows}));
  expect_gradients({a, none, b}, hstack({a, none, b}));
  expect_gradients({none, flat}, hstack({none, flat}));
}

TEST(Cat, ManyTensorsHaveGradients) {
  std::vector<Tensor> many = {leaf({0})};
  for (int i = 0; i < 200; ++i) many.push_back(leaf({2, i % 3}));
  expect_gradients(many, cat(many, 1));
}

TEST(Cat, NothingButEmptyVectors) {
  const Tensor a = leaf({0}), b = leaf({0});
  cat({a, b}).sum().backward();
  EXPECT_EQ(a.grad().sizes(), Sizes{0});
  EXPECT_EQ(b.grad().sizes(), Sizes{0});
}

}  // namespace
}  // namespace sy
