#include "autograd/checkpoint.h"

#include <gtest/gtest.h>

#include <thread>

#include "aten/ops/factory.h"
#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "autograd/saved_tensor.h"
#include "c10/device/generator.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// Graphs that keep their inputs only, and run forward again.

namespace sy::sample {
namespace {

using namespace sy::autograd;  // NOLINT
using sy::autograd::Node;
using V = std::vector<double>;
using List = std::vector<Tensor>;

Tensor layers(const List& x) { return mul(exp(mul(x[0], x[1])), exp(x[0])); }

TEST(Checkpoint, GivesTheSameGradients) {
  const Tensor a = numbers({3}), b = numbers({3});
  const auto plain = grad(sum(layers({a, b})), {a, b});
  const auto again = grad(sum(checkpoint(&layers, {a, b})), {a, b});
  EXPECT_EQ(values(plain[0]), values(again[0]));
  EXPECT_EQ(values(plain[1]), values(again[1]));
}

TEST(Checkpoint, SecondDerivativesSeveralResultsAndClosures) {
  const Tensor w = numbers({3});
  const auto f = [&](TensorList t) {
    const auto r = checkpoint(
        [&](const List& x) {
          const auto [s, c] = ops::sincos::call(mul(x[0], w));
          return List{mul(s, x[1]), exp(c)};
        },
        {t[0], t[1]});
    return mul(r[0], r[1]);
  };
  GradcheckOptions options;
  options.second_order = true;
  const auto r = gradcheck(f, {numbers({3}), numbers({3})}, options);
  EXPECT_TRUE(r.ok()) << r.problem;
  sum(f(List{numbers({3}), numbers({3})})).backward();
  EXPECT_TRUE(w.grad().defined()) << "a tensor beside the inputs";
}

TEST(Checkpoint, KeepsNoTensorsUntilBackward) {
  const Tensor a = numbers({4}), b = numbers({4});
  int runs = 0;
  Tensor inner;
  const auto f = [&](const List& x) {
    ++runs;
    const Tensor e = exp(mul(x[0], x[1]));
    inner = e;
    return mul(e, e);
  };
  const Tensor y = sum(checkpoint(f, {a, b}));
  EXPECT_EQ(inner.storage().use_count(), 1u);
  EXPECT_EQ(runs, 1);
  y.backward({}, /*retain_graph=*/true);
  EXPECT_EQ(runs, 2);
  y.backward();  // what the second run saved is still there
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(inner.storage().use_count(), 1u) << "freed again";
}

TEST(Checkpoint, InACheckpoint) {
  const Tensor a = numbers({2});
  int outer = 0, inner = 0;
  const auto f = [&](const List& x) {
    ++outer;
    const Tensor y = checkpoint(
        [&](const List& z) {
          ++inner;
          return exp(mul(z[0], z[0]));
        },
        {mul(x[0], x[0])});
    return mul(y, x[0]);
  };
  const Tensor expected = grad(sum(f({a})), a)[0];
  outer = inner = 0;
  const Tensor got = grad(sum(checkpoint(f, {a})), a)[0];
  EXPECT_EQ(values(got), values(expected));
  EXPECT_EQ(outer, 2);
  EXPECT_LE(inner, 3);
}

TEST(Checkpoint, RandomNumbersAreTheSame) {
  const Tensor a = numbers({64});
  manual_seed(7);
  Tensor first, second;
  const auto f = [&](const List& x) {
    const Tensor mask = sy::rand({64}, kDouble);
    (first.defined() ? second : first) = mask;
    return mul(exp(x[0]), mask);
  };
  const Tensor y = sum(checkpoint(f, {a}));
  const Tensor between = sy::rand({4}, kDouble);
  const uint64_t offset = default_generator()->offset();
  y.backward();
  EXPECT_EQ(values(first), values(second));
  EXPECT_EQ(default_generator()->offset(), offset);
  EXPECT_NE(get(between, 0), get(first, 0));
  first = second = Tensor();
  const Tensor z = sum(checkpoint(f, {a}, {.preserve_rng_state = false}));
  z.backward();
  EXPECT_NE(values(first), values(second));
}

TEST(CheckpointErrors, WrittenInputs) {
  const Tensor a = numbers({2});
  Tensor x = mul(a, a);
  const Tensor y =
      sum(checkpoint([](const List& l) { return exp(l[0]); }, {x}));
  mul_(x, x);
  SY_EXPECT_ERROR(y.backward(), Error,
                  "[checkpoint] inputs[0]: expected the tensor of the first "
                  "run, but it was overwritten by sample::mul_.Tensor");
}

TEST(CheckpointErrors, AnotherSecondRun) {
  const Tensor a = numbers({2});
  int runs = 0;
  const auto f = [&](const List& x) {
    return ++runs % 2 == 1 ? mul(exp(x[0]), x[0]) : exp(x[0]);
  };
  const Tensor y = sum(checkpoint(f, {a}));
  SY_EXPECT_ERROR(y.backward({}, true), Error,
                  "[checkpoint] f: expected a second run that saves 3 tensors "
                  "as the first, got 1");
  const auto smaller = [&](const List& x) {
    return exp(++runs % 2 == 1 ? x[0] : slice(x[0], 0, 0, 1));
  };
  runs = 0;
  const Tensor z = sum(checkpoint(smaller, {a}));
  SY_EXPECT_ERROR(z.backward(), ValueError,
                  "should give float64[2] on cpu, gave float64[1]");
}

TEST(CheckpointErrors, WhatTheSecondRunThrows) {
  const Tensor a = numbers({2});
  bool fails = false;
  const auto f = [&](const List& x) {
    if (fails) fail(ErrorKind::Index, "lost");
    return exp(x[0]);
  };
  const Tensor y = sum(checkpoint(f, {a}));
  fails = true;
  SY_EXPECT_ERROR(y.backward({}, true), IndexError,
                  "in the second run of checkpoint");
  fails = false;
  y.backward();
  EXPECT_TRUE(a.grad().defined());
}

TEST(CheckpointMemory, NothingIsLeft) {
  const int64_t before = Node::live_count();
  {
    const Tensor a = numbers({2}), b = numbers({2});
    checkpoint(&layers, {a, b});  // never run backward
    const Tensor y = sum(checkpoint(&layers, {mul(a, b), b}));
    y.backward({}, false, /*create_graph=*/true);
    a.mutable_grad().reset();
    b.mutable_grad().reset();
  }
  EXPECT_EQ(Node::live_count(), before);
}

TEST(CheckpointThreads, OneGraphByEight) {
  const Tensor a = numbers({2}), b = numbers({2});
  const V once = values(grad(sum(layers({a, b})), a)[0]);
  const Tensor y = sum(checkpoint(&layers, {a, b}));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { y.backward({}, /*retain_graph=*/true); });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_NEAR(get(a.grad(), 0), 8 * once[0], 1e-12);
}

}  // namespace
}  // namespace sy::sample
