#include <gtest/gtest.h>
#include <sy/sy.h>

#include "autograd/gradcheck.h"
#include "names.h"

// testdata/names.yaml compiles, and what it makes is not another argument's.

namespace sy {

namespace composite {

// The kernel that names.yaml names.
Tensor listed(const Tensor& self, ArrayRef<double> by, ArrayRef<Scalar> more,
              ArrayRef<bool> which) {
  return self * by[0] * more[more.size() - 1] * (which[1] ? 2 : 3);
}

}  // namespace composite

namespace {

Tensor numbers(int64_t first, int64_t n = 3) {
  return arange(first, first + n, TensorOptions(kDouble)).div(4);
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  const Tensor apart = a.to(kDouble).sub(b.to(kDouble)).abs();
  EXPECT_LT(apart.amax().item<double>(), 1e-6) << a << "\nis not\n" << b;
}

void expect_gradients(const char* name, std::vector<Value> args) {
  const auto op = Dispatcher::singleton().find_or_throw(name);
  autograd::GradcheckOptions options;
  options.second_order = true;
  const auto r = autograd::gradcheck_op(op, args.data(), args.size(), options);
  EXPECT_TRUE(r.ok()) << name << ": " << r.problem;
}

Tensor leaf(const Tensor& t) { return t.clone().requires_grad_(); }

TEST(Names, OfPointwiseOperators) {
  const Tensor a = numbers(1), b = numbers(2), c = numbers(3);
  expect_equal(names::product(a, b, c, 2, 3), a * b * exp(c) * 6);
  Tensor out = empty({0}, kDouble);
  expect_equal(names::product_out(out, a, b, c), a * b * exp(c));
  expect_gradients("names::product", {leaf(a), leaf(b), leaf(c), 2, 3});
  expect_equal(names::engine(a, b, c, c), a + b * c - c);
  expect_gradients("names::engine", {leaf(a), leaf(b), leaf(c), leaf(c)});
}

TEST(Names, OfReductions) {
  const Tensor a = numbers(1, 6).view({2, 3});
  expect_equal(names::total(a, IntArrayRef({1}), true, 3, 2),
               a.sum(IntArrayRef({1}), true) * 6);
  expect_gradients("names::total", {leaf(a), IntArrayRef({1}), true, 3, 2});
}

TEST(Names, OfGradients) {
  const Tensor a = numbers(1), b = numbers(2), c = numbers(3), d = numbers(4),
               e = numbers(5);
  expect_equal(names::formulas(a, b, c, d, e, 3, true),
               a * b * c + d * e * 3 + 1);
  expect_gradients("names::formulas",
                   {leaf(a), leaf(b), leaf(c), leaf(d), leaf(e), 3, true});
}

TEST(Names, OfViews) {
  const Tensor a = numbers(1, 6);
  expect_equal(names::part(a, 2, 2, 1, 1), a.slice(0, 1, 5, 2));
  expect_gradients("names::part", {leaf(a), 2, 2, 1, 1});
}

TEST(Names, OfComposites) {
  const Tensor a = numbers(1, 6), b = numbers(2), c = numbers(3);
  expect_equal(names::words(a, {b, c}, 2, 3, true),
               (cat({b * 2, c * 2}) + 1) * 3 + a);
  const Tensor d = numbers(4);
  expect_equal(names::scaled(d, b, c, 2), (d + b) * c * 2);
  Tensor out = empty({0}, kDouble), self = d.clone();
  expect_equal(names::scaled_out(out, d, b, c, 2), (d + b) * c * 2);
  expect_equal(names::scaled_(self, b, c, 2), (d + b) * c * 2);
}

TEST(Names, OfLists) {
  const Tensor a = numbers(1), b = numbers(2);
  expect_equal(names::each({a, b}, {b, a}, 2)[0], a + b * 2);
  const Tensor self[] = {a.clone()};
  names::each_(self, {b}, 2);
  expect_equal(self[0], a + b * 2);
}

TEST(Names, ListsOutliveTheCall) {
  const Tensor x = leaf(numbers(1));
  Tensor y;
  {
    const std::vector<double> by(100, 2.5);
    const std::vector<Scalar> more = {Scalar(1), Scalar(3)};
    const bool which[] = {true, false};
    y = names::listed(x, by, more, ArrayRef<bool>(which, 2));
  }
  y.sum().backward();
  expect_equal(x.grad(), full({3}, 22.5));
  const bool three[] = {true, false, true};
  EXPECT_THROW(names::listed(x, {1.0}, {Scalar(1)}, ArrayRef<bool>(three, 3)),
               ValueError);
}

TEST(Names, OfFactories) {
  EXPECT_EQ(names::blank({2, 3}, kLong).scalar_type(), kLong);
  EXPECT_EQ(names::blank({2, 3}, kMeta).device(), Device(kMeta));
  const auto [ones, whole, like, twos] = names::like(numbers(1), 2);
  EXPECT_EQ(ones.scalar_type(), kFloat);
  EXPECT_EQ(whole.scalar_type(), kLong);
  EXPECT_EQ(like.scalar_type(), kInt);
  expect_equal(twos, tensor({2, 2}));
  const auto on_meta = names::like(empty({2}, Device(kMeta)), 2);
  EXPECT_EQ(std::get<0>(on_meta).device(), Device(kMeta));
  EXPECT_EQ(std::get<2>(on_meta).device(), Device(kMeta));
}

}  // namespace
}  // namespace sy
