#include <gtest/gtest.h>
#include <sy/sy.h>

#include <cmath>
#include <limits>

#include "frontend/nn/utils/clip_grad.h"
#include "frontend/nn/utils/convert_parameters.h"
#include "test/c10/expect_error.h"

namespace sy::test {
namespace {

using namespace nn::utils;

Tensor with_grad(const Tensor& grad) {
  const Tensor p = zeros_like(grad).requires_grad_();
  p.mutable_grad() = grad.clone();
  return p;
}

TEST(ClipGrad, ScalesAllToTheNorm) {
  const Tensor a = with_grad(full({2}, 3.)), b = with_grad(full({2}, 4.));
  const Tensor none = zeros({2}).requires_grad_();
  const std::vector<Tensor> all{a, none, b};
  EXPECT_NEAR(clip_grad_norm_(all, 1.0), std::sqrt(50.0), 1e-5);
  EXPECT_TRUE(allclose(a.grad(), full({2}, 3 / std::sqrt(50.0))));
  EXPECT_TRUE(allclose(b.grad(), full({2}, 4 / std::sqrt(50.0))));
  EXPECT_FALSE(none.grad().defined());
  // Nothing changes below the bound.
  const Tensor before = a.grad().clone();
  EXPECT_NEAR(clip_grad_norm_(all, 100.0), 1, 1e-5);
  EXPECT_TRUE(equal(a.grad(), before));
}

TEST(ClipGrad, TakesOtherNormsAndDtypes) {
  const Tensor a = with_grad(full({2}, -3.)),
               b = with_grad(full({3}, 4., kDouble));
  EXPECT_EQ(clip_grad_norm_({a, b}, 2, std::numeric_limits<double>::infinity()),
            4);
  EXPECT_TRUE(allclose(a.grad(), full({2}, -1.5)));
  EXPECT_TRUE(allclose(b.grad(), full({3}, 2., kDouble)));
  EXPECT_NEAR(clip_grad_norm_(b, 1, 1), 6, 1e-5);
  EXPECT_EQ(clip_grad_norm_(zeros({2}), 1), 0);
}

// Gradients without elements change no norm, wherever they stand. Varies the
// norm and their places and dtypes; never the device.
TEST(ClipGrad, TakesGradientsWithoutElements) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double p : {2.0, 1.0, 3.0, 0.5, -1.0, 0.0, inf, -inf}) {
    const auto total = [&](const std::vector<Tensor>& all) {
      return get_total_norm(all, p).item().to<double>();
    };
    const Tensor a = tensor({3.f, -4.f}), b = tensor({-2.f});
    const Tensor none = zeros({0}), rows = zeros({0, 3}, kDouble);
    const double expected = total({a, b});
    EXPECT_EQ(total({none, a, b}), expected) << p;
    EXPECT_EQ(total({a, none, b, none}), expected) << p;
    EXPECT_EQ(total({a, b, rows}), expected) << p;
    EXPECT_EQ(total({none}), 0) << p;
    EXPECT_EQ(total({rows, none}), 0) << p;
    EXPECT_EQ(get_total_norm({rows, none}, p).scalar_type(), kDouble);
    EXPECT_EQ(total({}), 0) << p;

    const Tensor w = with_grad(a.clone()), e = with_grad(none.clone());
    EXPECT_EQ(clip_grad_norm_({w, e}, 1e-3, p), total({a})) << p;
    EXPECT_TRUE(allclose(w.grad(), a * (1e-3 / (total({a}) + 1e-6)))) << p;
    EXPECT_EQ(clip_grad_norm_(e, 1, p), 0) << p;
  }
  const Tensor a = with_grad(tensor({3.f, -4.f})), e = with_grad(zeros({0}));
  EXPECT_EQ(clip_grad_norm_({a, e}, 1, inf, true), 4);
  clip_grad_value_({e, a}, 0.5);
  clip_grad_value_(std::vector<Tensor>(), 0.5);
  clip_grad_value_(e, 0.5);
}

TEST(ClipGrad, RefusesNormsThatAreNotFinite) {
  const Tensor a =
      with_grad(full({2}, std::numeric_limits<double>::quiet_NaN()));
  const Tensor b = with_grad(ones({2}));
  SY_EXPECT_ERROR(clip_grad_norm_({a, b}, 1, 2, true), ValueError,
                  "[get_total_norm] the norm of order 2 is nan");
  EXPECT_TRUE(equal(b.grad(), ones({2})));
}

TEST(ClipGrad, Values) {
  const Tensor a = with_grad(arange(-3, 4).to(kFloat));
  clip_grad_value_(a, 2);
  EXPECT_EQ(a.grad().amax().item<float>(), 2);
  EXPECT_EQ(a.grad().amin().item<float>(), -2);
  EXPECT_EQ(a.grad().select(0, 4).item<float>(), 1);
  SY_EXPECT_ERROR(clip_grad_value_(a, -1), ValueError,
                  "clip_value: expected at least 0, got -1");
}

TEST(ConvertParameters, ToAVectorAndBack) {
  const Tensor a = randn({2, 3}).requires_grad_(),
               b = randn({4}).requires_grad_();
  const Tensor vector = parameters_to_vector({a, b});
  EXPECT_EQ(vector.sizes(), (IntArrayRef{10}));
  vector.sum().backward();
  EXPECT_TRUE(equal(a.grad(), ones({2, 3})));
  const Tensor other = arange(10).to(kFloat);
  vector_to_parameters(other, {a, b});
  EXPECT_TRUE(equal(a.detach(), arange(6).to(kFloat).view({2, 3})));
  EXPECT_TRUE(b.is_alias_of(other));
  EXPECT_TRUE(a.requires_grad());
  SY_EXPECT_ERROR(vector_to_parameters(ones({9}), {a, b}), ValueError,
                  "vector: expected sizes [10], got [9]");
  SY_EXPECT_ERROR(parameters_to_vector({}), ValueError,
                  "expected at least one");
}

}  // namespace
}  // namespace sy::test
