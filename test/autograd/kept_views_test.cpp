#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "autograd/api.h"
#include "autograd/function.h"
#include "autograd/node.h"

// State that is kept with views: the gradient of one that retains it, whoever
// writes to its memory; the memory of one that a Function saves. The tests vary
// how the view is made, who writes, when, and what is saved. They never vary
// the device.

namespace sy::autograd {
namespace {

Tensor base_of(const Tensor& leaf) { return leaf * 1; }

TEST(RetainedViews, FollowWritesToTheBaseAndToSiblings) {
  for (const bool sibling : {false, true}) {
    for (const int shape : {0, 1, 2}) {
      const Tensor leaf = ones({4}, kDouble).requires_grad_();
      const Tensor base = base_of(leaf);
      const Tensor v = shape == 0   ? base.slice(0, 0, 2)
                       : shape == 1 ? base.view({2, 2}).select(0, 0)
                                    : base.as_strided({2}, {1}, 0);
      v.retain_grad();
      Tensor written = sibling ? base.view({2, 2}) : base;
      written.mul_(2);
      EXPECT_TRUE(v.retains_grad());
      (v * 5).sum().backward();
      ASSERT_TRUE(v.grad().defined()) << sibling << shape;
      EXPECT_TRUE(v.grad().equal(full({2}, 5.0, kDouble)));
      EXPECT_EQ(leaf.grad()[0].item<double>(), 10);
    }
  }
}

TEST(RetainedViews, OfTwoSiblingsBoth) {
  const Tensor base = base_of(ones({1}).requires_grad_());
  Tensor a = base.slice(0), b = base.slice(0);
  a.retain_grad();
  b.retain_grad();
  a.mul_(2);
  (a + b).sum().backward();
  EXPECT_TRUE(a.grad().equal(ones({1})));
  EXPECT_TRUE(b.grad().equal(ones({1})));
}

TEST(RetainedViews, OfTheValueAfterTheWrite) {
  const Tensor base = base_of(ones({2}).requires_grad_());
  const Tensor v = base.slice(0);
  v.retain_grad();
  const Tensor before = v * 3;
  Tensor written = base;
  written.mul_(2);
  const Tensor after = v * 7;
  (before + after).sum().backward();
  EXPECT_TRUE(v.grad().equal(full({2}, 7.0)));
}

TEST(RetainedViews, SeveralWritesAndTheBaseItself) {
  const Tensor leaf = ones({3}, kDouble).requires_grad_();
  Tensor base = base_of(leaf);
  base.retain_grad();
  Tensor v = base.slice(0, 1);
  v.retain_grad();
  base.mul_(2);
  v.mul_(3);
  base.add_(1);
  (v * v).sum().backward();
  EXPECT_TRUE(v.grad().equal(full({2}, 14.0, kDouble)));
  EXPECT_TRUE(base.grad().equal(tensor({0.0, 14.0, 14.0}, kDouble)));
  EXPECT_TRUE(leaf.grad().equal(tensor({0.0, 84.0, 84.0}, kDouble)));
}

enum class What { kOutput, kSlice, kView, kViewOfView, kInput, kViewOfInput };

struct Saves : Function<Saves> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, What what) {
    const Tensor y = x + 1;
    const auto saved = [&]() -> Tensor {
      switch (what) {
        case What::kOutput: return y;
        case What::kSlice: return y.slice(0, 0, 2);
        case What::kView: return y.view({-1, 1});
        case What::kViewOfView: return y.view({-1, 1}).select(1, 0).slice(0, 1);
        case What::kInput: return x;
        default: return x.slice(0, 0, 2);
      }
    };
    ctx->save_for_backward({saved()});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    seen = ctx->get_saved_variables()[0].detach();
    return {g[0], Tensor()};
  }
  static inline Tensor seen;
};

constexpr What kAll[] = {What::kOutput,     What::kSlice, What::kView,
                         What::kViewOfView, What::kInput, What::kViewOfInput};

TEST(SavedViews, OfAnOutputMakeNoCycle) {
  for (const What what : kAll) {
    const int64_t nodes = Node::live_count();
    for (int i = 0; i < 3; ++i) {
      const Tensor x = ones({64}).requires_grad_();
      const Tensor y = Saves::apply(x, what);
      EXPECT_TRUE(y.requires_grad());
    }
    EXPECT_EQ(Node::live_count(), nodes) << static_cast<int>(what);
  }
}

TEST(SavedViews, AreWhatWasSaved) {
  for (const What what : kAll) {
    const Tensor x = arange(4, kFloat).requires_grad_();
    Saves::apply(x, what).sum().backward();
    const Tensor y = x.detach() + 1;
    const Tensor wanted = what == What::kOutput       ? y
                          : what == What::kSlice      ? y.slice(0, 0, 2)
                          : what == What::kView       ? y.view({4, 1})
                          : what == What::kViewOfView ? y.slice(0, 1)
                          : what == What::kInput      ? x.detach()
                                                 : x.detach().slice(0, 0, 2);
    EXPECT_TRUE(Saves::seen.equal(wanted)) << static_cast<int>(what);
  }
  Saves::seen.reset();
}

// exp, by a view of its result that is saved.
struct Exponential : Function<Exponential> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, bool of_view) {
    const Tensor y = exp(x);
    const AutoGradMode recording(true);
    const Tensor v = y.view({2, 2});
    ctx->save_for_backward({of_view ? v.slice(0, 0) : v});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->get_saved_variables()[0].reshape({4}), Tensor()};
  }
};

TEST(SavedViews, MadeWhileRecordingHaveDerivativesOfAnyOrder) {
  const int64_t nodes = Node::live_count();
  for (const bool of_view : {false, true}) {
    const Tensor x = tensor({0.5, -1.0, 2.0, 0.0}, kDouble).requires_grad_();
    Tensor y = Exponential::apply(x, of_view);
    for (int order = 1; order <= 3; ++order) {
      y = grad({y.sum()}, {x}, {}, true, true)[0];
      EXPECT_TRUE(y.detach().allclose(exp(x.detach()))) << order;
    }
  }
  EXPECT_EQ(Node::live_count(), nodes);
}

TEST(SavedViews, NoticeWritesToTheOutput) {
  for (const What what : {What::kSlice, What::kView}) {
    const Tensor x = ones({4}).requires_grad_();
    Tensor y = Saves::apply(x, what);
    y.mul_(2);
    EXPECT_THROW(y.sum().backward(), Error);
  }
}

}  // namespace
}  // namespace sy::autograd
