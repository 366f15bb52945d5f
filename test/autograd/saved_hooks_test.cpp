#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <thread>

#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "autograd/saved_tensor.h"
#include "autograd/saved_tensor_hooks.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// Hooks that pack what operators save, and unpack it for backward.

namespace sy::sample {
namespace {

using namespace sy::autograd;  // NOLINT
using sy::autograd::Node;
using V = std::vector<double>;

std::any keep(const Tensor& t) { return t; }
Tensor give(const std::any& v) { return std::any_cast<const Tensor&>(v); }

TEST(SavedTensorHooks, StandBetweenSavingAndUse) {
  const Tensor a = tensor({2, 3}, {2});
  a.requires_grad_();
  int packed = 0, unpacked = 0;
  Tensor y;
  {
    const SavedTensorHooks hooks(
        [&](const Tensor& t) -> std::any {
          ++packed;
          EXPECT_FALSE(t.requires_grad());
          EXPECT_FALSE(GradMode::is_enabled());
          return values(t);
        },
        [&](const std::any& v) {
          ++unpacked;
          return tensor(std::any_cast<const V&>(v), {2});
        });
    y = exp(mul(a, a));
  }
  const Tensor outside = mul(a, y);
  EXPECT_EQ(packed, 3) << "two factors and a result";
  EXPECT_EQ(unpacked, 0);
  sum(outside).backward();
  EXPECT_EQ(unpacked, 3);
  EXPECT_DOUBLE_EQ(get(a.grad(), 0), std::exp(4.0) * (1 + 2 * 2 * 2));
}

TEST(SavedTensorHooks, KeepSecondDerivatives) {
  const auto f = [](TensorList t) {
    const SavedTensorHooks hooks(&keep, &give);
    const Tensor y = exp(mul(t[0], t[1]));
    const auto [s, c] = ops::sincos::call(y);
    const auto [best, at] = ops::max_dim::call(mul(s, y), 0, true);
    return std::vector<Tensor>{mul(y, c), best};
  };
  GradcheckOptions options;
  options.second_order = true;
  const auto r = gradcheck(f, {numbers({3}), numbers({3})}, options);
  EXPECT_TRUE(r.ok()) << r.problem;
}

TEST(SavedTensorHooks, OfInPlaceWritesAndViews) {
  const auto f = [](TensorList t) {
    const SavedTensorHooks hooks(
        [](const Tensor& t) -> std::any { return clone(t); }, &give);
    Tensor base = clone(t[0]);
    Tensor v = slice(base, 0, 1, 3);
    ops::exp_::call(v);
    return mul(base, base);
  };
  GradcheckOptions options;
  options.second_order = true;
  const auto r = gradcheck(f, {numbers({4})}, options);
  EXPECT_TRUE(r.ok()) << r.problem;
}

TEST(SavedTensorHooks, TheInnermostActsAlone) {
  const Tensor a = numbers({1});
  int outer = 0, inner = 0;
  const SavedTensorHooks first(
      [&](const Tensor& t) -> std::any {
        ++outer;
        return keep(t);
      },
      &give);
  {
    const SavedTensorHooks second(
        [&](const Tensor& t) -> std::any {
          ++inner;
          return keep(mul(t, t));  // saves nothing through hooks itself
        },
        &give);
    mul(a, a);
  }
  exp(a);
  EXPECT_EQ(inner, 2);
  EXPECT_EQ(outer, 1);
}

TEST(SavedTensorHooks, WhatIsPackedIsFreedWithTheGraph) {
  const Tensor a = numbers({2});
  const auto alive = std::make_shared<int>();
  Tensor y;
  {
    const SavedTensorHooks hooks(
        [&](const Tensor& t) -> std::any { return std::pair(alive, t); },
        [](const std::any& v) {
          return std::any_cast<const std::pair<std::shared_ptr<int>, Tensor>&>(
                     v)
              .second;
        });
    y = sum(mul(a, a));
  }
  EXPECT_EQ(alive.use_count(), 3);
  y.backward();
  EXPECT_EQ(alive.use_count(), 1);
  SY_EXPECT_ERROR(y.backward(), Error, "a second time");
}

TEST(SavedTensorHooks, DeepGraphs) {
  const int64_t before = Node::live_count();
  {
    const Tensor a = tensor({1}, {1}), one = tensor({1}, {1});
    a.requires_grad_();
    const SavedTensorHooks hooks(&keep, &give);
    Tensor x = a;
    for (int i = 0; i < 100000; ++i) x = mul(x, one);
    x.backward();
    EXPECT_EQ(values(a.grad()), V({1}));
    x = a;  // taken down without having run
    for (int i = 0; i < 100000; ++i) x = mul(x, x);
  }
  EXPECT_EQ(Node::live_count(), before);
}

TEST(SavedTensorHooks, NotesWhatIsSavedWithItsName) {
  const Tensor a = numbers({2});
  const Tensor y = exp(a);
  std::vector<SavedView> saved = saved_tensors(*y.grad_fn());
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].name, "result");
  EXPECT_TRUE(saved[0].is_output);
  EXPECT_TRUE(saved[0].tensor.is_alias_of(y));
  sum(y).backward();
  saved = saved_tensors(*y.grad_fn());
  EXPECT_TRUE(saved[0].released);
  const SavedTensorHooks hooks(&keep, &give);
  EXPECT_TRUE(saved_tensors(*exp(a).grad_fn())[0].packed);
}

TEST(SavedTensorHooksErrors, NameOperatorAndPlace) {
  const Tensor a = numbers({1});
  {
    const SavedTensorHooks hooks(
        [](const Tensor&) -> std::any { fail(ErrorKind::Value, "disk full"); },
        &give);
    SY_EXPECT_ERROR(mul(a, a), ValueError, "disk full");
    SY_EXPECT_ERROR(mul(a, a), ValueError,
                    "[sample::mul.Tensor] in the pack hook registered at ");
    SY_EXPECT_ERROR(mul(a, a), ValueError, "saved_hooks_test.cpp:");
    sum(a);  // saves nothing
  }
  {
    const SavedTensorHooks hooks(
        [](const Tensor& t) -> std::any {
          Tensor w = t;
          mul_(w, w);
          return t;
        },
        &give);
    SY_EXPECT_ERROR(mul(a, a), ValueError, "wrote to its argument");
  }
  mul(a, a).backward();
}

TEST(SavedTensorHooksErrors, OfTheUnpackHook) {
  const Tensor a = numbers({2});
  const auto expect = [&](SavedTensorHooks::Unpack unpack, auto check) {
    Tensor y;
    {
      const SavedTensorHooks hooks(&keep, std::move(unpack));
      y = sum(mul(a, a));
    }
    check(y);
    check(y);
  };
  expect([](const std::any&) { return tensor({1}, {1}); },
         [](const Tensor& y) {
           SY_EXPECT_ERROR(y.backward({}, true), ValueError,
                           "[sample::mul backward] other: the unpack hook");
           SY_EXPECT_ERROR(y.backward({}, true), ValueError,
                           "should give float64[2] on cpu, gave float64[1]");
         });
  expect([](const std::any&) { return Tensor(); },
         [](const Tensor& y) {
           SY_EXPECT_ERROR(y.backward({}, true), ValueError, "gave undefined");
         });
  expect([](const std::any&) -> Tensor { fail(ErrorKind::Index, "lost"); },
         [](const Tensor& y) {
           SY_EXPECT_ERROR(y.backward({}, true), IndexError, "lost");
           SY_EXPECT_ERROR(y.backward({}, true), IndexError,
                           "in the gradient of sample::mul.Tensor");
         });
  EXPECT_FALSE(a.grad().defined());
  SY_EXPECT_ERROR(SavedTensorHooks(&keep, nullptr), ValueError,
                  "[SavedTensorHooks] expected two functions");
}

TEST(SavedTensorHooksThreads, AreEachThreadsOwn) {
  const Tensor a = numbers({1});
  const SavedTensorHooks hooks(
      [](const Tensor& t) -> std::any { return clone(t); }, &give);
  const Tensor y = mul(exp(a), a);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      EXPECT_FALSE(saved_tensors(*exp(a).grad_fn())[0].packed);
      for (int k = 0; k < 10; ++k) y.backward({}, /*retain_graph=*/true);
    });
  }
  for (std::thread& t : threads) t.join();
  const double x = get(a, 0);
  EXPECT_NEAR(get(a.grad(), 0), 80 * std::exp(x) * (1 + x), 1e-9);
}

}  // namespace
}  // namespace sy::sample
