#include <gtest/gtest.h>

#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// Views and in-place writes. Gradients are compared with finite differences,
// first and second order: every function clones its input before it writes.

namespace sy::sample {
namespace {

using autograd::grad_fn_name;
using autograd::gradcheck;
using V = std::vector<double>;

void check(autograd::GradcheckFunction f, const std::vector<Tensor>& inputs) {
  autograd::GradcheckOptions options;
  options.second_order = true;
  const auto r = gradcheck(f, inputs, options);
  EXPECT_TRUE(r.ok()) << r.problem;
}

TEST(Views, AreDifferentiable) {
  const std::vector<Tensor> x = {numbers({3, 4})};
  check([](TensorList t) { return exp(view(t[0], {2, 6})); }, x);
  check([](TensorList t) { return exp(slice(t[0], 1, 1, 3)); }, x);
  check(
      [](TensorList t) {
        return exp(as_strided(t[0], {3, 2}, {1, 4}, 1));
      },
      x);
  check([](TensorList t) { return exp(expand(t[0], {2, 3, 4})); }, x);
  check(
      [](TensorList t) {
        return exp(slice(view(slice(t[0], 0, 1, 3), {4, 2}), 0, 0, 3));
      },
      x);
  check(
      [](TensorList t) {
        const auto rows = ops::unbind_int::call(t[0], 0);
        return exp(mul(rows[0], rows[2]));
      },
      x);
}

TEST(Views, OverlappingStridesAddUp) {
  const std::vector<Tensor> x = {numbers({5})};
  check(
      [](TensorList t) {
        return exp(as_strided(t[0], {3, 2, 3}, {1, 0, 1}, 0));
      },
      x);
}

TEST(InPlace, ReplacesTheHistory) {
  const std::vector<Tensor> x = {numbers({3}), numbers({3})};
  check(
      [](TensorList t) {
        Tensor y = clone(t[0]);
        mul_(y, t[1]);
        add_(y, t[0], 3);
        return exp(y);
      },
      x);
  check(
      [](TensorList t) {
        Tensor y = mul(t[0], t[1]);
        ops::exp_::call(y);
        return mul(y, t[0]);
      },
      x);
  check(
      [](TensorList t) {
        Tensor y = mul(t[0], t[1]);
        ops::fill__Scalar::call(y, 2);
        return mul(y, t[0]);
      },
      x);
}

TEST(InPlace, ByTheTensorItself) {
  const int64_t before = autograd::Node::live_count();
  {
    const std::vector<Tensor> x = {numbers({3})};
    check(
        [](TensorList t) {
          Tensor y = mul(t[0], t[0]);
          mul_(y, y);
          return y;
        },
        x);
    Tensor y = clone(x[0]);
    mul_(y, y);  // never run backward
  }
  EXPECT_EQ(autograd::Node::live_count(), before);
}

TEST(InPlace, ATensorWithoutHistoryGetsOne) {
  const Tensor w = numbers({2});
  Tensor y = numbers({2}, false);
  const V before = values(y);
  mul_(y, w);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_EQ(grad_fn_name(y), "sample::mul_.Tensor");
  sum(y).backward();
  EXPECT_EQ(values(w.grad()), before);
}

TEST(InPlace, OnAViewReachesTheBase) {
  const std::vector<Tensor> x = {numbers({3, 4}), numbers({4})};
  check(
      [](TensorList t) {
        Tensor base = clone(t[0]);
        Tensor row = slice(base, 0, 1, 2);
        mul_(row, t[1]);
        return exp(base);
      },
      x);
  check(
      [](TensorList t) {  // the view itself, after its write
        Tensor base = clone(t[0]);
        Tensor row = slice(base, 0, 1, 2);
        mul_(row, t[1]);
        return mul(row, row);
      },
      x);
}

TEST(InPlace, OnTheBaseReachesTheViews) {
  const std::vector<Tensor> x = {numbers({3, 4}), numbers({4})};
  check(
      [](TensorList t) {
        Tensor base = clone(t[0]);
        const Tensor flat = view(base, {12});
        const Tensor part = slice(flat, 0, 2, 9);
        mul_(base, t[1]);
        return std::vector<Tensor>{exp(flat), exp(part)};
      },
      x);
}

TEST(InPlace, OneViewReachesAnother) {
  const std::vector<Tensor> x = {numbers({3, 4}), numbers({4})};
  check(
      [](TensorList t) {
        Tensor base = clone(t[0]);
        const Tensor flat = view(base, {12});
        Tensor column = slice(base, 1, 1, 3);
        mul_(column, slice(t[1], 0, 0, 2));
        Tensor row = slice(base, 0, 0, 1);
        add_(row, t[1], 2);
        ops::exp_::call(column);
        return mul(flat, flat);
      },
      x);
}

TEST(InPlace, ThroughChainsOfViews) {
  const std::vector<Tensor> x = {numbers({4, 4}), numbers({2})};
  check(
      [](TensorList t) {
        Tensor base = clone(t[0]);
        Tensor inner = slice(view(slice(base, 0, 1, 3), {2, 2, 2}), 0, 1, 2);
        mul_(inner, t[1]);
        return std::vector<Tensor>{exp(base), exp(inner)};
      },
      x);
  check(
      [](TensorList t) {  // twice, and the base in between
        Tensor base = clone(t[0]);
        Tensor v = slice(base, 1, 0, 2);
        mul_(v, t[1]);
        mul_(base, t[0]);
        mul_(v, t[1]);
        return exp(base);
      },
      x);
}

TEST(InPlace, ABaseWithoutGradientGetsOneThroughItsView) {
  const std::vector<Tensor> x = {numbers({2})};
  const Tensor constant = numbers({3, 2}, false);
  check(
      [&](TensorList t) {
        Tensor base = clone(constant);
        const Tensor other = view(base, {6});
        Tensor v = slice(base, 0, 0, 2);
        mul_(v, t[0]);
        EXPECT_TRUE(base.requires_grad());
        EXPECT_TRUE(other.requires_grad());
        return std::vector<Tensor>{exp(base), exp(other)};
      },
      x);
}

TEST(InPlace, CopyAndFillOfAPart) {
  const std::vector<Tensor> x = {numbers({3, 2}), numbers({2})};
  check(
      [](TensorList t) {
        Tensor base = clone(t[0]);
        Tensor first = slice(base, 0, 0, 2);
        ops::copy_::call(first, t[1], false);  // broadcast
        Tensor last = slice(base, 0, 2, 3);
        ops::fill__Scalar::call(last, 3);
        return mul(exp(base), base);
      },
      x);
}

TEST(InPlace, ResultsSavedByAViewsWriteAreFound) {
  const std::vector<Tensor> x = {numbers({4})};
  check(
      [](TensorList t) {
        Tensor base = clone(t[0]);
        Tensor v = slice(base, 0, 1, 3);
        ops::exp_::call(v);
        return mul(base, base);
      },
      x);
}

TEST(InPlace, OnABaseWithGaps) {
  const std::vector<Tensor> x = {numbers({2, 2})};
  check(
      [](TensorList t) {
        // A base that is no view and not dense: every second element.
        Tensor base(make_tensor_strided({2, 2}, {5, 2}, kDouble, Device(kCPU)));
        ops::copy_::call(base, t[0], false);
        Tensor v = slice(base, 1, 1, 2);
        mul_(v, slice(t[0], 1, 0, 1));
        return exp(base);
      },
      x);
}

TEST(InPlaceErrors, OnALeaf) {
  Tensor a = numbers({2});
  const V before = values(a);
  SY_EXPECT_ERROR(mul_(a, a), ValueError,
                  "[sample::mul_.Tensor] self: expected a tensor that may be "
                  "written in place while gradients are recorded, got a leaf "
                  "that requires a gradient");
  EXPECT_EQ(values(a), before);
  const NoGradGuard guard;
  mul_(a, a);
  EXPECT_NE(values(a), before);
}

TEST(InPlaceErrors, OnAViewOfALeaf) {
  const Tensor a = numbers({2, 2});
  Tensor v = slice(view(a, {4}), 0, 0, 2);
  SY_EXPECT_ERROR(mul_(v, tensor({2}, {})), ValueError,
                  "got a view of a leaf that requires a gradient");
  EXPECT_EQ(a._version(), 0u);
}

TEST(InPlaceErrors, OnAViewMadeInNoGradMode) {
  const Tensor w = numbers({2});
  for (const bool base_has_history : {false, true}) {
    Tensor base = base_has_history ? clone(w) : numbers({2}, false);
    Tensor v = [&] {
      const NoGradGuard guard;
      return view(base, {2});
    }();
    EXPECT_FALSE(v.requires_grad());
    SY_EXPECT_ERROR(mul_(v, w), ValueError,
                    "got a view that was made in no-grad mode");
  }
}

TEST(InPlaceErrors, OnANoGradViewOfATensorWithHistory) {
  Tensor base = clone(numbers({2}));
  const Tensor plain = numbers({2}, false);
  Tensor v = [&] {
    const NoGradGuard guard;
    return slice(view(base, {2}), 0, 0, 1);
  }();
  EXPECT_FALSE(mul(v, plain).requires_grad());
  SY_EXPECT_ERROR(mul_(v, tensor({2}, {1})), ValueError,
                  "got a view that was made in no-grad mode");
  const NoGradGuard guard;
  mul_(v, tensor({2}, {1}));
}

TEST(InPlaceErrors, OnOneOfSeveralViews) {
  const Tensor w = numbers({2});
  Tensor base = clone(numbers({2, 2}));
  std::vector<Tensor> rows = ops::unbind_int::call(base, 0);
  SY_EXPECT_ERROR(mul_(rows[0], w), ValueError,
                  "got an output of sample::unbind.int, which makes several "
                  "views at once");
  Tensor inner = slice(rows[1], 0, 0, 1);
  SY_EXPECT_ERROR(mul_(inner, w), ValueError, "several views");
  mul_(base, w);
  EXPECT_TRUE(rows[1].requires_grad());
}

TEST(InPlaceErrors, OverwritingASavedTensor) {
  const Tensor a = numbers({2}), b = numbers({2});
  Tensor m = mul(a, b);
  const Tensor y = mul(m, b);
  add_(m, a);
  SY_EXPECT_ERROR(sum(y).backward(), Error,
                  "[sample::mul backward] a saved tensor was changed in place: "
                  "saved by sample::mul.Tensor (self), overwritten by "
                  "sample::add_.Tensor");
}

TEST(InPlaceErrors, OverwritingASavedTensorThroughAView) {
  const Tensor a = numbers({4});
  Tensor e = exp(a);
  Tensor v = slice(e, 0, 0, 1);
  ops::fill__Scalar::call(v, 0);
  SY_EXPECT_ERROR(sum(e).backward(), Error,
                  "saved by sample::exp (result), overwritten by "
                  "sample::fill_.Scalar");
}

TEST(InPlaceErrors, WritesInNoGradModeCount) {
  Tensor w = numbers({2});
  const Tensor y = mul(w, w);
  {
    const NoGradGuard guard;
    add_(w, w);
  }
  SY_EXPECT_ERROR(sum(y).backward(), Error,
                  "overwritten by sample::add_.Tensor");
}

TEST(Views, OfALeafWrittenInNoGradModeStayAttached) {
  Tensor w = numbers({2, 2});
  const Tensor v = view(w, {4});
  {
    const NoGradGuard guard;
    mul_(w, w);
  }
  EXPECT_TRUE(v.requires_grad());
  sum(v).backward();
  EXPECT_EQ(values(w.grad()), V({1, 1, 1, 1}));
}

TEST(Views, MadeBeforeRequiresGradAreNoPartOfTheGraph) {
  const Tensor w = numbers({2}, false);
  const Tensor v = view(w, {2});
  w.requires_grad_();
  EXPECT_FALSE(v.requires_grad());
  EXPECT_FALSE(mul(v, v).requires_grad());
}

TEST(Views, AViewMayBeALeaf) {
  const Tensor base = numbers({4}, false);
  const Tensor v = slice(base, 0, 0, 2);
  v.requires_grad_();
  EXPECT_TRUE(v.is_leaf());
  EXPECT_FALSE(base.requires_grad());
  sum(mul(v, v)).backward();
  EXPECT_DOUBLE_EQ(get(v.grad(), 1), 2 * get(v, 1));
}

}  // namespace
}  // namespace sy::sample
