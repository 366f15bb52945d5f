#include <gtest/gtest.h>

#include "autograd/api.h"
#include "autograd/generated_support.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// One tape: what backward() and grad() give, leaf rules, bad input.

namespace sy::sample {
namespace {

using autograd::backward;
using autograd::grad;
using autograd::grad_fn_name;
using V = std::vector<double>;

TEST(Tape, ProductRule) {
  const Tensor a = tensor({2}, {1}), b = tensor({3}, {1});
  a.requires_grad_();
  b.requires_grad_();
  const Tensor y = mul(mul(a, b), a);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE(y.is_leaf());
  EXPECT_EQ(grad_fn_name(y), "sample::mul.Tensor");
  y.backward();
  EXPECT_EQ(values(a.grad()), V({12}));
  EXPECT_EQ(values(b.grad()), V({4}));
}

TEST(Tape, NothingIsRecordedWithoutNeed) {
  const Tensor a = numbers({2}, false), w = numbers({2});
  EXPECT_FALSE(mul(a, a).requires_grad());
  EXPECT_TRUE(mul(a, w).requires_grad());
  const NoGradGuard guard;
  const Tensor y = mul(a, w);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(y.is_leaf());
  const AutoGradMode on(true);
  EXPECT_TRUE(mul(a, w).requires_grad());
}

TEST(Tape, BroadcastArgumentsGetTheirOwnSize) {
  const Tensor a = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor b = tensor({10, 20, 30}, {3}), d = tensor({7}, {});
  for (const Tensor& t : {a, b, d}) t.requires_grad_();
  sum(mul(mul(a, b), d)).backward();
  EXPECT_EQ(values(a.grad()), V({70, 140, 210, 70, 140, 210}));
  EXPECT_EQ(values(b.grad()), V({35, 49, 63}));
  EXPECT_EQ(b.grad().sizes(), IntArrayRef({3}));
  EXPECT_EQ(values(d.grad()), V({10 + 40 + 90 + 40 + 100 + 180}));
  EXPECT_EQ(d.grad().dim(), 0);
}

TEST(Tape, GradientsHaveTheDtypeOfTheirTensor) {
  const Tensor a = numbers({2}, true, kFloat), b = numbers({2}, true, kDouble);
  const Tensor y = mul(a, b);
  EXPECT_EQ(y.scalar_type(), kDouble);
  sum(y).backward();
  EXPECT_EQ(a.grad().scalar_type(), kFloat);
  EXPECT_EQ(b.grad().scalar_type(), kDouble);
}

TEST(Tape, LeavesAccumulate) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  mul(a, a).backward();
  const Tensor first = a.grad();
  mul(a, a).backward();
  EXPECT_EQ(values(a.grad()), V({12}));
  EXPECT_TRUE(first.is_same(a.grad())) << "not added in place";
  a.mutable_grad().reset();
  EXPECT_FALSE(a.grad().defined());
}

TEST(Tape, AGradientIsStolenOnlyIfNobodyElseHasIt) {
  const Tensor a = numbers({2}), b = numbers({2}), g = tensor({1, 1}, {2});
  add(a, b).backward(g);
  EXPECT_FALSE(a.grad().is_same(b.grad()));
  EXPECT_FALSE(a.grad().is_alias_of(b.grad()));
  EXPECT_FALSE(a.grad().is_alias_of(g));
  EXPECT_FALSE(b.grad().is_alias_of(g));
  const Tensor c = numbers({2, 1}), h = tensor({1, 1}, {2});
  view(c, {2}).backward(h);
  EXPECT_FALSE(c.grad().is_alias_of(h)) << "a view of the caller's tensor";
}

TEST(Tape, TheGradientOfOneElementDefaultsToOne) {
  const Tensor a = numbers({2});
  SY_EXPECT_ERROR(mul(a, a).backward(), ValueError,
                  "[backward] tensors[0]: expected a tensor of one element");
  mul(a, a).backward(tensor({1, 0}, {2}));
  EXPECT_DOUBLE_EQ(get(a.grad(), 0), 2 * get(a, 0));
  EXPECT_DOUBLE_EQ(get(a.grad(), 1), 0);
}

TEST(Tape, GivenGradientsAreChecked) {
  const Tensor a = numbers({2}), y = mul(a, a);
  SY_EXPECT_ERROR(y.backward(tensor({1, 1, 1}, {3})), ValueError,
                  "expected size [2], got float64[3]");
  SY_EXPECT_ERROR(y.backward(tensor({1, 1}, {2}, kLong)), TypeError,
                  "expected a floating dtype, got int64[2]");
  SY_EXPECT_ERROR(y.backward(Tensor(make_tensor({2}, kDouble, Device(kMeta)))),
                  ValueError, "expected device cpu");
  const Tensor g = tensor({1, 1}, {2});
  SY_EXPECT_ERROR(backward({y, y}, {g}), ValueError,
                  "expected a gradient for each of 2 tensors, got 1");
  y.backward(g);
}

TEST(Tape, TensorsWithoutHistoryHaveNoBackward) {
  const Tensor a = numbers({1}, false);
  SY_EXPECT_ERROR(mul(a, a).backward(), ValueError, "which has no history");
  SY_EXPECT_ERROR(backward(Tensor()), ValueError, "got an undefined one");
}

TEST(Tape, BackwardOfALeaf) {
  const Tensor a = numbers({1});
  a.backward();
  EXPECT_EQ(values(a.grad()), V({1}));
}

TEST(Tape, RequiresGradIsForFloatingLeaves) {
  const Tensor i = tensor({1}, {1}, kLong), a = numbers({1});
  SY_EXPECT_ERROR(i.requires_grad_(), ValueError,
                  "[requires_grad_] expected a floating dtype, got int64[1]");
  i.requires_grad_(false);
  const Tensor y = mul(a, a);
  y.requires_grad_();
  SY_EXPECT_ERROR(y.requires_grad_(false), ValueError,
                  "expected a leaf, got the result of sample::mul.Tensor");
  a.requires_grad_(false);
  EXPECT_FALSE(a.requires_grad());
  EXPECT_FALSE(a.key_set().has(DispatchKey::Autograd));
  EXPECT_FALSE(mul(a, a).requires_grad());
  SY_EXPECT_ERROR(Tensor().requires_grad_(), ValueError, "undefined");
}

TEST(Tape, DetachCutsAndShares) {
  const Tensor a = numbers({2}), y = mul(a, a);
  const Tensor d = ops::detach::call(y);
  EXPECT_FALSE(d.requires_grad());
  EXPECT_TRUE(d.is_alias_of(y));
  sum(mul(y, d)).backward();
  EXPECT_DOUBLE_EQ(get(a.grad(), 0), 2 * get(a, 0) * get(d, 0));
}

TEST(Tape, RetainGradKeepsInnerGradients) {
  const Tensor a = numbers({2}), y = mul(a, a);
  EXPECT_FALSE(y.retains_grad());
  y.retain_grad();
  EXPECT_TRUE(y.retains_grad());
  const Tensor z = mul(y, y);
  sum(z).backward();
  EXPECT_FALSE(z.grad().defined());
  EXPECT_DOUBLE_EQ(get(y.grad(), 1), 2 * get(y, 1));
  SY_EXPECT_ERROR(numbers({1}, false).retain_grad(), ValueError,
                  "expected a tensor that requires a gradient");
}

TEST(Tape, RetainGradMovesOnWithInPlaceWrites) {
  const Tensor a = tensor({3}, {1}), two = tensor({2}, {1});
  a.requires_grad_();
  Tensor y = mul(a, two);
  y.retain_grad();
  mul_(y, two);
  mul(y, two).backward();
  EXPECT_EQ(values(y.grad()), V({2})) << "of the value before the write";
  EXPECT_EQ(values(a.grad()), V({8}));
}

TEST(Tape, ASecondBackwardNeedsRetainGraph) {
  const Tensor a = numbers({1});
  const Tensor y = mul(a, a);
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  EXPECT_DOUBLE_EQ(get(a.grad(), 0), 4 * get(a, 0));
  SY_EXPECT_ERROR(y.backward(), Error,
                  "[sample::mul backward] backward through the graph a second "
                  "time");
  const Tensor z = add(a, a);  // saves nothing, as in PyTorch
  z.backward();
  z.backward();
}

TEST(Tape, GradLeavesDotGradAlone) {
  const Tensor a = tensor({2}, {1}), b = tensor({5}, {1});
  a.requires_grad_();
  b.requires_grad_();
  const Tensor m = mul(a, b), y = mul(m, a);
  const std::vector<Tensor> g = grad(y, {a, m, y}, {}, true);
  EXPECT_EQ(values(g[0]), V({20}));
  EXPECT_EQ(values(g[1]), V({2}));
  EXPECT_EQ(values(g[2]), V({1}));
  EXPECT_FALSE(a.grad().defined());
  EXPECT_FALSE(b.grad().defined());
  EXPECT_FALSE(g[0].requires_grad());
}

TEST(Tape, GradComputesOnlyWhatIsAsked) {
  const Tensor a = numbers({2}), b = numbers({2});
  Tensor overwritten = numbers({2}, false);
  // b's gradient needs `overwritten`, which is spoilt: not asked, no error.
  const Tensor y = add(mul(a, a), mul(b, overwritten));
  ops::fill__Scalar::call(overwritten, 0);
  EXPECT_DOUBLE_EQ(get(grad(sum(y), a, {}, true)[0], 0), 2 * get(a, 0));
  SY_EXPECT_ERROR(grad(sum(y), b), Error, "changed in place");
}

TEST(Tape, UnusedInputs) {
  const Tensor a = numbers({1}), b = numbers({1}), y = mul(a, a);
  SY_EXPECT_ERROR(grad(y, {a, b}, {}, true), ValueError,
                  "[grad] inputs[1]: expected a tensor that the outputs depend "
                  "on");
  const auto g = grad(y, {a, b}, {}, true, false, /*allow_unused=*/true);
  EXPECT_TRUE(g[0].defined());
  EXPECT_FALSE(g[1].defined());
  SY_EXPECT_ERROR(grad(y, numbers({1}, false)), ValueError,
                  "[grad] inputs[0]: expected a tensor that requires");
}

TEST(Tape, SeveralOutputsAddUp) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  backward({mul(a, a), add(a, a)});
  EXPECT_EQ(values(a.grad()), V({8}));
  const Tensor y = mul(a, a);
  EXPECT_EQ(values(grad({y, y}, a)[0]), V({12}));
}

TEST(Tape, DoubleBackward) {
  const Tensor x = tensor({3}, {1});
  x.requires_grad_();
  const Tensor y = mul(mul(x, x), x);
  const Tensor g = grad(y, x, {}, std::nullopt, /*create_graph=*/true)[0];
  EXPECT_TRUE(g.requires_grad());
  EXPECT_EQ(values(g), V({27}));
  const Tensor h = grad(g, x, {}, std::nullopt, true)[0];
  EXPECT_EQ(values(h), V({18}));
  EXPECT_EQ(values(grad(h, x)[0]), V({6}));
}

TEST(Tape, BackwardWithCreateGraphRecordsDotGrad) {
  const Tensor x = tensor({3}, {1});
  x.requires_grad_();
  mul(x, x).backward({}, false, /*create_graph=*/true);
  const Tensor g = x.grad();
  EXPECT_TRUE(g.requires_grad());
  x.mutable_grad().reset();
  mul(g, g).backward();
  EXPECT_EQ(values(x.grad()), V({24}));
}

TEST(Tape, OutputsWithoutGradient) {
  const Tensor a = tensor({1, 5, 3, 7, 2, 2}, {2, 3});
  a.requires_grad_();
  const auto [best, at] = ops::max_dim::call(a, 1, false);
  EXPECT_TRUE(best.requires_grad());
  EXPECT_FALSE(at.requires_grad());
  EXPECT_TRUE(at.is_leaf());
  EXPECT_EQ(values(at), V({1, 0}));
  sum(best).backward();
  EXPECT_EQ(values(a.grad()), V({0, 1, 0, 1, 0, 0}));
}

TEST(Tape, OneOfSeveralOutputsMayBeUnused) {
  const Tensor a = numbers({2});
  const auto [s, c] = ops::sincos::call(a);
  EXPECT_EQ(grad_fn_name(c), "sample::sincos");
  const Tensor only = grad(sum(c), a, {}, true)[0];
  EXPECT_NEAR(get(only, 0), -get(s, 0), 1e-12);
  const Tensor both = grad(sum(add(s, c)), a)[0];
  EXPECT_NEAR(get(both, 1), get(c, 1) - get(s, 1), 1e-12);
}

TEST(Tape, ListsHaveAGradientPerElement) {
  const Tensor a = numbers({2, 1}), b = numbers({2, 2}, false);
  const Tensor c = numbers({2, 1});
  const Tensor y = cat({a, b, c}, 1);
  y.backward(tensor({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4}));
  EXPECT_EQ(values(a.grad()), V({1, 5}));
  EXPECT_FALSE(b.grad().defined());
  EXPECT_EQ(values(c.grad()), V({4, 8}));
  EXPECT_FALSE(cat({b, b}, 0).requires_grad());
}

TEST(Tape, OptionalTensors) {
  const Tensor a = numbers({2}), w = numbers({2});
  sum(ops::scale::call(a, std::nullopt)).backward();
  EXPECT_EQ(values(a.grad()), V({1, 1}));
  a.mutable_grad().reset();
  sum(ops::scale::call(a, w)).backward();
  EXPECT_EQ(values(a.grad()), values(w));
  EXPECT_EQ(values(w.grad()), values(a));
}

TEST(Tape, CompositesAreRecordedByTheirParts) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  const Tensor y = ops::square::call(a);
  EXPECT_EQ(grad_fn_name(y), "sample::mul.Tensor");
  y.backward();
  EXPECT_EQ(values(a.grad()), V({6}));
}

TEST(Tape, OutCannotBeDifferentiated) {
  const Tensor a = numbers({2}), b = numbers({2}, false);
  Tensor out = numbers({2}, false), wants = numbers({2});
  SY_EXPECT_ERROR(ops::mul_out::call(a, b, out), ValueError,
                  "[sample::mul.out] functions with out= cannot be "
                  "differentiated");
  SY_EXPECT_ERROR(ops::mul_out::call(b, b, wants), ValueError, "out=");
  ops::mul_out::call(b, b, out);
  const NoGradGuard guard;
  ops::mul_out::call(a, b, out);
  EXPECT_DOUBLE_EQ(get(out, 1), get(a, 1) * get(b, 1));
}

TEST(Tape, WithoutADerivativeBackwardSaysSo) {
  const Tensor a = numbers({2});
  const Tensor y = ops::round::call(a);
  EXPECT_TRUE(y.requires_grad());
  SY_EXPECT_ERROR(sum(y).backward(), NotImplementedError,
                  "sample::round has no derivative");
  EXPECT_FALSE(ops::round::call(numbers({2}, false)).requires_grad());
}

TEST(Tape, ErrorsNameTheNode) {
  const Tensor a = numbers({2});
  try {
    sum(mul(ops::round::call(a), a)).backward();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("in the gradient of sample::round"),
              std::string::npos)
        << e.message();
  }
}

}  // namespace
}  // namespace sy::sample
