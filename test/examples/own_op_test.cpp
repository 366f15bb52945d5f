#include <gtest/gtest.h>
#include <sy/sy.h>

#include <cmath>

#include "mine.h"

namespace {

using sy::Tensor;

TEST(OwnOp, ComputesItsExpression) {
  const Tensor x = sy::linspace(-3, 3, 13);
  const Tensor y = mine::bump(x, 1.5);
  for (int i = 0; i < 13; ++i) {
    const double at = -3 + 0.5 * i;
    EXPECT_NEAR(y.select(0, i).item<float>(),
                std::exp(-(at / 1.5) * (at / 1.5)), 1e-6);
  }
}

TEST(OwnOp, HasTheDerivedForms) {
  const Tensor x = sy::linspace(-1, 1, 5);
  const Tensor expected = mine::bump(x);
  Tensor out = sy::empty({0});
  EXPECT_TRUE(mine::bump_out(out, x).equal(expected));
  Tensor in_place = x.clone();
  EXPECT_TRUE(mine::bump_(in_place).equal(expected));
  const Tensor whole = sy::arange(3);
  EXPECT_EQ(mine::bump(whole).scalar_type(), sy::kFloat);
  EXPECT_THROW(mine::bump_(const_cast<Tensor&>(whole)), sy::Error);
}

TEST(OwnOp, HasShapesWithoutData) {
  const Tensor x = sy::empty({2, 3}, sy::Device(sy::kMeta));
  EXPECT_EQ(mine::bump(x).sizes(), sy::IntArrayRef({2, 3}));
}

TEST(OwnOp, GradientAgreesWithFiniteDifferences) {
  const Tensor x = sy::linspace(-2, 2, 9, sy::kDouble).requires_grad_();
  mine::bump(x, 0.7).sum().backward();
  const double step = 1e-6;
  const Tensor p = x.detach();
  const Tensor slope = mine::bump(p.add(step), 0.7)
                           .sub(mine::bump(p.sub(step), 0.7))
                           .div(2 * step);
  EXPECT_LT(slope.sub(x.grad()).abs().amax().item<double>(), 1e-8);
}

TEST(OwnOp, IsKnownByItsNamespace) {
  const auto op = sy::Dispatcher::singleton().find_or_throw("mine::bump");
  EXPECT_EQ(op.entry().schema_text(),
            "mine::bump(Tensor self, Scalar width=1) -> Tensor");
  EXPECT_FALSE(sy::Dispatcher::singleton().find("aten::bump").has_value());
}

}  // namespace
