#include "aten/backend/functionalize.h"

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "autograd/api.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// Gradients of functional tensors: those of ordinary ones.

namespace sy {
namespace {

using Values = std::vector<double>;

Tensor numbers() {
  return arange(1, 13, TensorOptions(kDouble)).mul(0.1).view({3, 4}).clone();
}

Values read(const Tensor& t) { return values(functional_value(t)); }

template <class Program>
void expect_same_gradient(Program program) {
  Tensor plain = numbers().requires_grad_();
  const Tensor value = numbers();
  Tensor functional = functionalize(value).requires_grad_();
  const Tensor want = program(plain);
  const Tensor got = program(functional);
  EXPECT_TRUE(is_functional(got));
  EXPECT_EQ(read(got), values(want));
  want.sum().backward();
  got.sum().backward();
  ASSERT_TRUE(functional.grad().defined());
  EXPECT_EQ(read(functional.grad()), values(plain.grad()));
  EXPECT_EQ(values(value), values(numbers()));
}

TEST(FunctionalizeGrad, OfPureCalls) {
  expect_same_gradient([](const Tensor& x) { return (x * x).exp(); });
}

TEST(FunctionalizeGrad, ThroughViews) {
  expect_same_gradient([](const Tensor& x) {
    return x.t().slice(0, 1, 3).mul(x.view({4, 3}).slice(0, 0, 2));
  });
}

TEST(FunctionalizeGrad, ThroughWrites) {
  expect_same_gradient([](const Tensor& x) {
    Tensor y = x * 2;
    y.mul_(x);
    y.add_(1);
    return y * y;
  });
}

TEST(FunctionalizeGrad, ThroughWritesToViews) {
  expect_same_gradient([](const Tensor& x) {
    Tensor y = x * 2;
    Tensor row = y.select(0, 1);
    row.mul_(x.select(0, 2));
    y.diagonal().fill_(3);
    return y * row;
  });
}

TEST(FunctionalizeGrad, SecondDerivatives) {
  const auto second = [](Tensor x) {
    const Tensor y = x * x * x;
    const Tensor g = autograd::grad({y.sum()}, {x}, {}, true, true)[0];
    return autograd::grad({g.sum()}, {x})[0];
  };
  const Tensor plain = numbers().requires_grad_();
  const Tensor functional = functionalize(numbers()).requires_grad_();
  EXPECT_EQ(read(second(functional)), values(second(plain)));
}

TEST(FunctionalizeGrad, WritesToWhatIsSavedAreFound) {
  Tensor x = functionalize(numbers()).requires_grad_();
  Tensor y = x * 2;
  const Tensor z = y * y;
  y.add_(1);
  SY_EXPECT_ERROR(z.sum().backward(), Error, "overwritten");
}

}  // namespace
}  // namespace sy
