#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

#include <functional>
#include <string>

#include "test/frontend/compile/samples.h"

// Gradients within compiled callables and of what they return.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

struct Net {
  Tensor w1 = sample({16, 8}).requires_grad_();
  Tensor b1 = sample({16}, 1).requires_grad_();
  Tensor w2 = sample({4, 16}, 2).requires_grad_();
  Tensor mean = zeros({16}), var = ones({16});

  Tensor loss(const Tensor& x, const Tensor& y) {
    const Tensor h = batch_norm(linear(x, w1, b1), {}, {}, mean, var, true, 0.1,
                                1e-5, false);
    return cross_entropy_loss(linear(h.relu(), w2), y);
  }
  std::vector<Tensor> parameters() { return {w1, b1, w2}; }
};

Tensor labels(int64_t n) { return arange(n) % 4; }

void expect_equal_nets(Net& a, Net& b) {
  const auto pa = a.parameters(), pb = b.parameters();
  for (size_t i = 0; i < pa.size(); ++i) {
    expect_same(pa[i].detach(), pb[i].detach());
    expect_same(pa[i].grad(), pb[i].grad());
  }
  expect_same(a.mean, b.mean);
  expect_same(a.var, b.var);
}

// Views of no elements have gradients: nothing but zeros.
TEST(CompiledGradients, ResultsWithoutElements) {
  const auto start = tensor({1}, kLong).reshape({});
  const std::function<Tensor(const Tensor&, const Tensor&)> bodies[] = {
      [](const Tensor& x, const Tensor&) { return x.narrow(0, 1, 0); },
      [](const Tensor& x, const Tensor& at) { return x.narrow(0, at, 0); },
      [](const Tensor& x, const Tensor&) { return x.slice(1, 2, 2).t(); },
      [](const Tensor& x, const Tensor&) { return x.t().slice(0, 2, 2); },
      [](const Tensor& x, const Tensor&) { return (x * 2).slice(1, 2, 2); },
      [](const Tensor& x, const Tensor&) { return x.slice(1, 2, 2) * 2; },
  };
  for (const auto& body : bodies) {
    auto f = compile(body);
    for (int i = 0; i < 4; ++i) {
      const Tensor x = sample({4, 3}, i).requires_grad_();
      const Tensor y = f(x, start);
      EXPECT_EQ(y.numel(), 0);
      EXPECT_TRUE(y.requires_grad());
      y.sum().backward();
      expect_same(x.grad(), zeros({4, 3}));
    }
  }
}

TEST(CompiledGradients, ATrainingStep) {
  Net mine, other;
  const auto body = [](Net& net, const Tensor& x, const Tensor& y) {
    const Tensor loss = net.loss(x, y);
    loss.backward();
    const NoGradGuard no_grad;
    for (const Tensor& p : net.parameters()) {
      Tensor(p).add_(p.grad(), -0.1);
      p.mutable_grad().reset();
    }
    return loss.detach();
  };
  auto step = compile(
      [&](const Tensor& x, const Tensor& y) { return body(mine, x, y); });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = sample({12, 8}, i), y = labels(12);
    expect_same(step(x, y), body(other, x, y));
    expect_equal_nets(mine, other);
  }
  EXPECT_EQ(step.counters().captures, 1) << step.explain();
}

// .grad is there from the second step on: two variants.
TEST(CompiledGradients, GradsThatStay) {
  for (const bool reset_first : {true, false}) {
    Net mine, other;
    const auto body = [&](Net& net, const Tensor& x, const Tensor& y) {
      if (reset_first) {
        for (const Tensor& p : net.parameters()) p.mutable_grad().reset();
      }
      const Tensor loss = net.loss(x, y);
      loss.backward();
      const NoGradGuard no_grad;
      for (const Tensor& p : net.parameters()) Tensor(p).add_(p.grad(), -0.01);
      return loss.detach();
    };
    auto step = compile(
        [&](const Tensor& x, const Tensor& y) { return body(mine, x, y); });
    for (int i = 0; i < 5; ++i) {
      const Tensor x = sample({12, 8}, i), y = labels(12);
      expect_same(step(x, y), body(other, x, y));
      expect_equal_nets(mine, other);
      // Its memory is the program's own.
      for (Net* n : {&mine, &other}) n->b1.mutable_grad().mul_(0.5);
    }
    EXPECT_EQ(step.counters().captures, 2) << step.explain();
  }
}

TEST(CompiledGradients, OfResults) {
  Net mine, other;
  auto loss = compile(
      [&](const Tensor& x, const Tensor& y) { return mine.loss(x, y); });
  for (int i = 0; i < 5; ++i) {
    const Tensor x = sample({12, 8}, i).requires_grad_(), y = labels(12);
    const Tensor x2 = x.detach().requires_grad_();
    const Tensor a = loss(x, y), b = other.loss(x2, y);
    expect_same(a.detach(), b.detach());
    EXPECT_TRUE(a.requires_grad());
    (a * 2).backward();
    (b * 2).backward();
    expect_same(x.grad(), x2.grad());
    expect_equal_nets(mine, other);
  }
  EXPECT_EQ(loss.counters().captures, 1) << loss.explain();
  EXPECT_EQ(loss.counters().backwards, 5);
}

TEST(CompiledGradients, OfSeveralResults) {
  const Tensor w = sample({5}).requires_grad_();
  const auto body = [&](const Tensor& x) {
    const Tensor y = (x * w).exp();
    return std::vector<Tensor>{y,          y.sum(), x * 2,
                               y.detach(), w,       w.view({5, 1})};
  };
  auto f = compile(body);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = sample({5}, i).requires_grad_();
    const Tensor x2 = x.detach().requires_grad_();
    const auto a = f(x), b = body(x2);
    for (size_t k = 0; k < a.size(); ++k) {
      expect_same(a[k].detach(), b[k].detach());
      EXPECT_EQ(a[k].requires_grad(), b[k].requires_grad()) << k;
    }
    const auto run = [&](const std::vector<Tensor>& r, const Tensor& in) {
      const Tensor sum = i % 2 == 0 ? r[0].sum() + r[2].sum() : r[1] * 3;
      return autograd::grad({sum + r[5].sum()}, {in, w});
    };
    const auto ga = run(a, x), gb = run(b, x2);
    expect_same(ga[0], gb[0]);
    expect_same(ga[1], gb[1]);
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(CompiledGradients, ThroughTensorsWithAHistory) {
  const Tensor w = sample({5}).requires_grad_();
  auto f = compile([](const Tensor& x) { return x.sin() * x; });
  for (int i = 0; i < 3; ++i) {
    const Tensor h = w * (i + 1);
    const Tensor g = autograd::grad({f(h).sum()}, {w})[0];
    const Tensor k = w * (i + 1);
    expect_same(g, autograd::grad({(k.sin() * k).sum()}, {w})[0]);
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(CompiledGradients, TwoCallsBeforeBackward) {
  const Tensor w = sample({5}).requires_grad_();
  auto f = compile([&](const Tensor& x) { return (x * w).tanh().sum(); });
  f(sample({5}));
  const Tensor a = f(sample({5}, 1)), b = f(sample({5}, 2));
  const Tensor ga = autograd::grad({a}, {w})[0];
  const Tensor gb = autograd::grad({b}, {w})[0];
  const auto want = [&](double first) {
    return autograd::grad({(sample({5}, first) * w).tanh().sum()}, {w})[0];
  };
  expect_same(ga, want(1));
  expect_same(gb, want(2));
}

TEST(CompiledGradients, OldValuesOfWhatIsWritten) {
  const Tensor w = sample({5}).requires_grad_();
  const auto body = [&](Tensor state, const Tensor& x) {
    const Tensor y = (w * state).sum();
    const NoGradGuard no_grad;
    state.add_(x);
    return y;
  };
  // Eager code forbids to write what a gradient needs; a clone is what it
  // needs.
  const auto want = [&](Tensor state, const Tensor& x) {
    const Tensor y = (w * state.clone()).sum();
    const NoGradGuard no_grad;
    state.add_(x);
    return y;
  };
  auto f = compile(want);
  static_cast<void>(body);
  Tensor s1 = sample({5}, 3), s2 = s1.clone();
  for (int i = 0; i < 4; ++i) {
    const Tensor x = sample({5}, i);
    expect_same(autograd::grad({f(s1, x)}, {w})[0],
                autograd::grad({want(s2, x)}, {w})[0]);
    expect_same(s1, s2);
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

TEST(CompiledGradients, Errors) {
  const Tensor w = sample({5}).requires_grad_();
  auto f = compile([&](const Tensor& x) { return (x * w).exp(); });
  const Tensor x = sample({5});
  f(x);
  const Tensor a = f(x);
  a.sum().backward();
  EXPECT_NE(error_of([&] { a.sum().backward(); }).find("freed"),
            std::string::npos)
      << error_of([&] { a.sum().backward(); });
  const Tensor b = f(x);
  {
    const NoGradGuard no_grad;
    Tensor(b).mul_(2);
  }
  EXPECT_NE(error_of([&] { b.sum().backward(); }), "none");
  const Tensor c = f(x);
  EXPECT_NE(error_of([&] {
              autograd::grad({c.sum()}, {w}, {}, std::nullopt, true);
            }).find("no second derivative"),
            std::string::npos);
}

// A kernel that fails, at the capture and at a replay, leaves .grad alone or
// reset, never half made.
TEST(CompiledGradients, AFailureLeavesNoGradient) {
  Tensor table = sample({6, 3}).requires_grad_();
  auto f = compile([&](const Tensor& i) {
    table.mutable_grad().reset();
    const Tensor rows = embedding(table, i);
    rows.square().sum().backward();
    return rows.detach();
  });
  const Tensor good = tensor({1, 3}, kLong), bad = tensor({1, 9}, kLong);
  EXPECT_THROW(f(bad), Error);
  EXPECT_FALSE(table.grad().defined());
  for (int i = 0; i < 3; ++i) {
    expect_same(f(good), embedding(table, good).detach());
    expect_same(table.grad().slice(0, 1, 2), table.detach().slice(0, 1, 2) * 2);
    EXPECT_THROW(f(bad), Error);
  }
}

TEST(CompiledGradients, KeepsTheGraphIfAsked) {
  const Tensor w = sample({5}).requires_grad_();
  auto f = compile([&](const Tensor& x) { return (x * w).exp().sum(); });
  f(sample({5}));
  const Tensor a = f(sample({5}));
  const Tensor g1 = autograd::grad({a}, {w}, {}, true)[0];
  const Tensor g2 = autograd::grad({a}, {w})[0];
  expect_same(g1, g2);
}

TEST(CompiledGradients, NothingIsLeft) {
  const int64_t before = autograd::Node::live_count();
  {
    Net net;
    auto f = compile(
        [&](const Tensor& x, const Tensor& y) { return net.loss(x, y); });
    for (int i = 0; i < 4; ++i) {
      f(sample({12, 8}), labels(12)).backward();
      const Tensor unused = f(sample({12, 8}), labels(12));
    }
  }
  EXPECT_EQ(autograd::Node::live_count(), before);
}

}  // namespace

}  // namespace sy
