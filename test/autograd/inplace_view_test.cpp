#include "aten/ops/view_inplace.h"

#include <gtest/gtest.h>

#include "aten/ops/arithmetic.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// Tensors that become a view of what they were: sizes, history, versions.

namespace sy {
namespace {

using autograd::grad_fn_name;
using Ints = std::vector<int64_t>;

Tensor numbers(IntArrayRef sizes) {
  return arange(1, checked_numel("numbers", sizes) + 1, kDouble)
      .mul(0.1)
      .view(sizes)
      .clone()
      .requires_grad_();
}

void check(autograd::GradcheckFunction f, const std::vector<Tensor>& inputs) {
  autograd::GradcheckOptions options;
  options.second_order = true;
  const auto r = autograd::gradcheck(f, inputs, options);
  EXPECT_TRUE(r.ok()) << r.problem;
}

TEST(InplaceView, ChangesOnlyTheTensorItself) {
  Tensor a = arange(6).view({2, 3});
  const Tensor rows = a.unbind(0)[1];
  const Tensor same = a.detach();
  EXPECT_TRUE(a.transpose_(0, 1).is_same(a));
  EXPECT_EQ(a.sizes().vec(), (Ints{3, 2}));
  EXPECT_EQ(same.sizes().vec(), (Ints{2, 3}));
  EXPECT_EQ(rows.sum().item<int64_t>(), 12);
  a.unsqueeze_(1);
  EXPECT_EQ(a.sizes().vec(), (Ints{3, 1, 2}));
  a.squeeze_();
  a.t_();
  EXPECT_TRUE(equal(a, same));
  as_strided_(a, {2, 2}, {1, 2}, 1);
  EXPECT_TRUE(equal(a, as_strided(same, {2, 2}, {1, 2}, 1)));
  SY_EXPECT_ERROR(as_strided_(a, {7}, {1}, 0), ValueError, "storage");
  SY_EXPECT_ERROR(a.transpose_(0, 2), IndexError, "dim");
  EXPECT_EQ(a.sizes().vec(), (Ints{2, 2}));
}

TEST(InplaceView, IsRecorded) {
  const std::vector<Tensor> x = {numbers({2, 3})};
  check(
      [](TensorList t) {
        Tensor y = t[0].clone();
        y.transpose_(0, 1);
        y.mul_(arange(1, 3, kDouble));
        y.unsqueeze_(0);
        return y.exp();
      },
      x);
  check(
      [](TensorList t) {
        Tensor y = t[0].mul(2);
        as_strided_(y, {2, 2}, {1, 2}, 1);
        return y.mul(y);
      },
      x);
}

TEST(InplaceView, OfAViewLeavesTheBaseAndStaysConnected) {
  const std::vector<Tensor> x = {numbers({2, 3}), numbers({2, 1})};
  check(
      [](TensorList t) {  // a write to the view after it has changed
        Tensor base = t[0].clone();
        Tensor v = base.narrow(1, 0, 2);
        v.t_();
        v.mul_(t[1]);
        return std::vector<Tensor>{base.exp(), v.mul(v)};
      },
      x);
  check(
      [](TensorList t) {  // a write to the base
        Tensor base = t[0].clone();
        Tensor v = base.narrow(1, 0, 2);
        v.t_();
        base.mul_(t[1]);
        return std::vector<Tensor>{base.exp(), v.mul(v)};
      },
      x);
}

TEST(InplaceView, OfABaseReachesItsViews) {
  const std::vector<Tensor> x = {numbers({2, 3})};
  check(
      [](TensorList t) {
        Tensor base = t[0].mul(3);
        const Tensor row = base.select(0, 1);
        base.t_();
        base.mul_(arange(1, 3, kDouble));
        return std::vector<Tensor>{row.exp(), base.exp()};
      },
      x);
}

TEST(InplaceView, WhatWasSavedIsFoundToHaveChanged) {
  const Tensor x = numbers({2, 3});
  Tensor y = x.mul(2);
  const Tensor z = y.mul(y);
  y.t_();
  SY_EXPECT_ERROR(z.sum().backward(), Error, "t_");
}

TEST(InplaceView, LeavesAndTheirViewsAreRejected) {
  Tensor x = numbers({2, 3});
  SY_EXPECT_ERROR(x.t_(), ValueError, "leaf");
  Tensor v = x.select(0, 0);
  SY_EXPECT_ERROR(v.unsqueeze_(0), ValueError, "leaf");
  EXPECT_EQ(x.sizes().vec(), (Ints{2, 3}));
}

TEST(Detach, InPlaceForgetsTheHistory) {
  const Tensor x = numbers({3});
  Tensor y = x.exp();
  const Tensor z = y.mul(y);
  EXPECT_TRUE(detach_(y).is_same(y));
  EXPECT_FALSE(y.requires_grad());
  EXPECT_EQ(grad_fn_name(y), "");
  z.sum().backward();  // what was recorded before goes on
  const Tensor expected = x.detach().exp();
  EXPECT_EQ(values(x.grad()), values(expected.mul(expected).mul(2)));
  Tensor v = x.mul(2).select(0, 0);
  SY_EXPECT_ERROR(detach_(v), ValueError, "view");
}

}  // namespace
}  // namespace sy
