#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "test/frontend/compile/samples.h"

// Code that looks at elements, and depends on more than these: modules,
// optimizers, tensors and numbers of the program, exceptions. Each call is
// compared with the same code that is not compiled.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

Tensor full_of(double value) { return full({4, 3}, value); }

TEST(LooksState, AThousandAlternatingCallsAreThreeCaptures) {
  const auto body = [](const Tensor& x) {
    const Tensor y = x * 2;
    return x.sum().item<float>() >= 1 ? y + 1 : y - 1;
  };
  auto f = compile(body);
  const Tensor up = full_of(1), down = full_of(-1);
  for (int i = 0; i < 1000; ++i) {
    const Tensor& x = i % 2 == 0 ? up : down;
    expect_same(f(x), body(x));
  }
  EXPECT_LE(f.counters().captures, 3) << f.explain();
  EXPECT_GE(f.counters().replays, 950) << f.explain();
  const auto time = [&](auto& g) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) g(i % 2 == 0 ? up : down);
    const std::chrono::duration<double, std::micro> t =
        std::chrono::steady_clock::now() - begin;
    return t.count() / 1000;
  };
  std::cout << "a call: " << time(f) << " us, not compiled: " << time(body)
            << " us\n";
}

TEST(LooksState, LoopsUntilAValue) {
  const auto body = [](const Tensor& x) {
    Tensor y = x * 1;
    int n = 0;
    while (y.sum().item<float>() > 1) {
      y = y / 2;
      ++n;
    }
    return y + n;
  };
  auto f = compile(body);
  for (int round = 0; round < 8; ++round) {
    for (const double v : {0.01, 1.0, 10.0, 100.0}) {
      expect_same(f(full_of(v)), body(full_of(v)));
    }
  }
  EXPECT_EQ(f.counters().captures, 4) << f.explain();
}

// The value is the same; what follows it depends on the mode.
TEST(LooksState, AModuleChangesItsModeBetweenCalls) {
  nn::Sequential net(nn::Linear(3, 8), nn::BatchNorm1d(8), nn::ReLU());
  nn::Linear extra(8, 8);
  const auto body = [&](const Tensor& x) {
    const Tensor y = net->forward(x);
    if (x.sum().item<float>() > 0) return extra(y) + 1;
    return net->is_training() ? y * 2 : y * 3;
  };
  auto f = compile(body);
  const NoGradGuard no_grad;
  for (int i = 0; i < 60; ++i) {
    net->train(i % 10 < 6);
    const Tensor x = full_of(i % 3 == 0 ? 1 : -1);
    std::vector<Tensor> state, after;
    for (const Tensor& b : net->buffers()) state.push_back(b.clone());
    const Tensor got = f(x);
    for (const Tensor& b : net->buffers()) after.push_back(b.clone());
    for (size_t k = 0; k < state.size(); ++k) {
      net->buffers()[k].copy_(state[k]);
    }
    expect_same(got, body(x));
    for (size_t k = 0; k < state.size(); ++k) {
      expect_same(net->buffers()[k], after[k]);
    }
  }
  EXPECT_GT(f.counters().replays, 5) << f.explain();
}

TEST(LooksState, AnOptimizerStepsIfTheGradientIsFinite) {
  const auto train = [](bool compiled) {
    manual_seed(1);
    nn::Linear fc(3, 5);
    optim::Adam adam(fc->parameters(), optim::AdamOptions(0.1));
    const auto body = [&](const Tensor& x) {
      adam.zero_grad();
      const Tensor loss = fc(x).tanh().square().mean();
      loss.backward();
      const bool good =
          fc->weight.grad().sum().isfinite().item<bool>() && x.size(0) > 0;
      if (good) adam.step();
      return loss.detach();
    };
    auto f = compile(body);
    std::vector<Tensor> all;
    for (int i = 0; i < 40; ++i) {
      Tensor x = sample({4, 3}, i);
      if (i % 7 == 6) x = x / 0;
      if (i == 20) adam.param_groups()[0].options().set_lr(0.01);
      all.push_back(compiled ? f(x) : body(x));
      all.push_back(fc->weight.detach().clone());
    }
    if (compiled) {
      EXPECT_GT(f.counters().replays, 20) << f.explain();
      EXPECT_EQ(f.counters().untold, 0) << f.explain();
    }
    return all;
  };
  const auto got = train(true), want = train(false);
  for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], want[i]);
}

// A number that is printed, and on which nothing depends.
TEST(LooksState, ALossIsPrinted) {
  double printed = 0;
  Tensor w = sample({3}).clone(), want = w.clone();
  const auto body = [&](Tensor& w, const Tensor& x) {
    w.add_(x.sum(0), 0.01);
    printed = w.sum().item<double>();
    return w * 2;
  };
  auto f = compile([&](const Tensor& x) { return body(w, x); });
  for (int i = 0; i < 300; ++i) {
    const Tensor x = sample({4, 3}, i);
    const Tensor got = f(x);
    const double was = printed;
    expect_same(got, body(want, x));
    EXPECT_NEAR(was, printed, 1e-4);
    expect_same(w, want);
  }
  EXPECT_LE(f.counters().captures, 40) << f.explain();
}

TEST(LooksState, ExceptionsComeFromInside) {
  Tensor state = zeros({3}), want = zeros({3});
  const auto body = [](Tensor s, const Tensor& x) {
    s.add_(1);
    if (x.sum().item<float>() > 10) throw std::runtime_error("too large");
    if (x.sum().item<float>() < -10) return x.index_select(0, full({1}, 9));
    return x + s.sum();
  };
  auto f = compile([&](const Tensor& x) { return body(state, x); });
  for (int i = 0; i < 40; ++i) {
    const Tensor x = full_of(i % 4 == 1 ? 5.0 : i % 8 == 3 ? -5.0 : 0.5);
    Tensor got, expected;
    bool threw = false, must = false;
    try {
      got = f(x);
    } catch (const std::exception&) {
      threw = true;
    }
    try {
      expected = body(want, x);
    } catch (const std::exception&) {
      must = true;
    }
    EXPECT_EQ(threw, must) << i;
    expect_same(got, expected);
    expect_same(state, want);
  }
}

// Checks of each branch find what nothing tells.
TEST(LooksState, AChangeBeforeALookIsFound) {
  static double factor;
  factor = 2;
  const auto body = [](const Tensor& x) {
    const Tensor y = x * factor;
    return x.sum().item<float>() > 0 ? y + 1 : y - 1;
  };
  auto f = compile(body);
  for (int i = 0; i < 20; ++i) f(full_of(i % 2 == 0 ? 1 : -1));
  factor = 3;
  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    const Tensor x = full_of(i % 2 == 0 ? 1 : -1);
    wrong += !equal(f(x), body(x));
  }
  EXPECT_LE(wrong, 32) << f.explain();
  EXPECT_EQ(f.counters().untold, 1) << f.explain();
}

TEST(LooksState, EachCallIsCheckedIfOneAsks) {
  static double factor;
  factor = 2;
  auto f = compile([](const Tensor& x) {
    const bool up = x.sum().item<float>() > 0;
    return up ? x * factor : x - 1;
  });
  compiling::set_check(true);
  for (int i = 0; i < 30; ++i) {
    const Tensor x = full_of(i % 3 == 0 ? 1 : -1);
    expect_same(f(x), i % 3 == 0 ? x * 2 : x - 1);
  }
  EXPECT_EQ(f.counters().replays, 0);
  factor = 3;
  f(full_of(-1));
  EXPECT_THROW(f(full_of(1)), ValueError);
  compiling::set_check(false);
}

// Two callables share weights; one of them writes what the other looks at.
TEST(LooksState, AnotherCallableWritesWhatIsLookedAt) {
  Tensor flag = zeros({});
  auto toggle = compile([&](const Tensor& x) { flag.copy_(1 - flag + x * 0); });
  auto f = compile(
      [&](const Tensor& x) { return flag.item<float>() != 0 ? x + 1 : x - 1; });
  for (int i = 0; i < 20; ++i) {
    toggle(zeros({}));
    const Tensor x = sample({3}, i);
    expect_same(f(x), i % 2 == 0 ? x + 1 : x - 1);
  }
  EXPECT_EQ(f.counters().captures, 2) << f.explain();
}

// How many calls are replayed is left open: each thread has other arguments,
// and what that teaches is learnt anew for each branch.
TEST(LooksState, SeveralThreadsCallOneCallable) {
  const auto body = [](const Tensor& x) {
    return x.sum().item<float>() > 0 ? (x * 2).exp() : x - 1;
  };
  auto f = compile(body);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const Tensor x = full_of(((i / (t + 1)) % 3 - 1) * 0.5);
        wrong += !allclose(f(x), body(x));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0) << f.explain();
  EXPECT_EQ(f.counters().untold, 0) << f.explain();
  EXPECT_GT(f.counters().replays, 0) << f.explain();
}

}  // namespace

}  // namespace sy
