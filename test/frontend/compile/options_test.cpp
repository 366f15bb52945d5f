#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <algorithm>
#include <functional>
#include <random>

#include "test/frontend/compile/samples.h"

// Options that have no part in the step while another has a certain value.
// Varied: when dampening, weight decay, rates and modes change, each for
// itself, and whether they change together. Never: the optimizer, momentum (0),
// tensors.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

struct Side {
  std::function<Tensor(const Tensor&)> step;
  std::function<void()> change;
};

// Dampening has no part without momentum: it is no sign any more once it has
// changed often. Weight decay and modes come and go meanwhile.
TEST(Options, AnOptionBesideOneThatChangesOften) {
  using namespace optim;
  const auto make = [](std::mt19937* random) {
    manual_seed(3);
    auto drop = std::make_shared<nn::Dropout>(0.2);
    nn::Sequential net(nn::Linear(6, 6), nn::Tanh(), *drop);
    auto o = std::make_shared<SGD>(net->parameters(), SGDOptions(0.05));
    return Side{[=](const Tensor& x) {
                  const Tensor loss = (net->forward(x) - 1).square().mean();
                  o->zero_grad();
                  loss.backward();
                  o->step();
                  return loss.detach();
                },
                [=] {
                  const auto one_of = [&](unsigned n) {
                    return (*random)() % n;
                  };
                  if (one_of(3) == 0) net->train(one_of(2) == 0);
                  auto& options =
                      static_cast<SGDOptions&>(o->param_groups()[0].options());
                  if (one_of(3) == 0) options.dampening(0.01 * one_of(9));
                  if (one_of(4) == 0) options.weight_decay(0.2 * one_of(2));
                }};
  };
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 mine_random(seed), other_random(seed);
    const Side mine = make(&mine_random), other = make(&other_random);
    auto f = compile([&](const Tensor& x) { return mine.step(x); });
    for (int i = 0; i < 60; ++i) {
      mine.change();
      other.change();
      const Tensor x = sample({4, 6}, 0.1 * i);
      manual_seed(i);
      const Tensor got = f(x);
      manual_seed(i);
      expect_same(got, other.step(x));
      if (HasFailure()) {
        FAIL() << "seed " << seed << ", call " << i << "\n" << f.explain();
      }
    }
  }
}

// The things that f has learned of an option may be old when it has the same
// value again. Nothing here is a difference that no guard sees.
template <class Options>
void changing(const std::function<void(Options&, int)>& change) {
  using namespace optim;
  Tensor w = sample({4}, 1).requires_grad_();
  SGD sgd({w}, SGDOptions(0.01));
  auto f = compile([&](const Tensor& x) {
    sgd.zero_grad();
    (x * w).square().sum().backward();
    sgd.step();
    return w.detach() * 1;
  });
  Tensor v = sample({4}, 1).requires_grad_();
  SGD other({v}, SGDOptions(0.01));
  for (int i = 0; i < 80; ++i) {
    for (SGD* o : {&sgd, &other}) {
      change(static_cast<Options&>(o->param_groups()[0].options()), i);
    }
    const Tensor x = sample({4}, i);
    other.zero_grad();
    (x * v).square().sum().backward();
    other.step();
    expect_same(f(x), v.detach());
    ASSERT_EQ(f.counters().untold, 0) << "call " << i << "\n" << f.explain();
    ASSERT_FALSE(testing::Test::HasFailure()) << "call " << i;
  }
  EXPECT_GT(f.counters().replays, 40) << f.explain();
  EXPECT_EQ(f.counters().breaks, 0) << f.explain();
}

TEST(Options, ANumberThatWasNoInputYet) {
  changing<optim::SGDOptions>([](optim::SGDOptions& o, int i) {
    o.weight_decay(i == 6 ? 0.02 : 0.01);
  });
}

TEST(Options, ANumberThatComesAndGoes) {
  changing<optim::SGDOptions>([](optim::SGDOptions& o, int i) {
    o.weight_decay(i % 16 < 6 ? 0 : 0.01 * (1 + i % 3));
  });
}

TEST(Options, TheLr) {
  changing<optim::SGDOptions>(
      [](optim::SGDOptions& o, int i) { o.lr(0.001 * (1 + i % 5)); });
}

// A rate of 0 and evaluating give one graph, whatever the other is.
TEST(Options, ModesAndRates) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    nn::Dropout drop(0.2);
    Tensor w = sample({6, 6});
    auto f = compile([&](const Tensor& x) { return drop(x.mm(w)); });
    for (int i = 0; i < 80; ++i) {
      const auto one_of = [&](unsigned n) {
        return static_cast<int>(random() % n);
      };
      if (one_of(4) == 0) drop->train(one_of(2) == 0);
      if (one_of(3) == 0) drop->options.p(0.2 * std::max(one_of(6) - 3, 0));
      const Tensor x = sample({4, 6}, 0.1 * i);
      manual_seed(i);
      const Tensor got = f(x);
      manual_seed(i);
      expect_same(got, drop(x.mm(w)));
      if (HasFailure()) {
        FAIL() << "seed " << seed << ", call " << i << "\n" << f.explain();
      }
    }
  }
}

// 1 - 0.999 has three digits less in float32 than its operands. The first step
// of Adam is lr, whatever the gradient.
TEST(Options, NumbersOfStepsAreFloat64) {
  Tensor w = zeros({15});
  w.requires_grad_(true);
  optim::Adam adam({w}, optim::AdamOptions(0.1));
  auto f = compile([&](const Tensor& x) {
    adam.zero_grad();
    (w * x).sum().backward();
    adam.step();
  });
  f(arange(15, TensorOptions(kFloat)) * 0.1 + 1);
  expect_same(w.detach(), full({15}, -0.1), 1e-7);
}

// The same by every rule that corrects its means, over steps and rates.
template <class O, class Options>
void expect_steps(Options options) {
  const auto train = [&](bool compiled, ScalarType dtype) {
    Tensor w = sample({4, 5}).to(dtype, false, true);
    w.requires_grad_(true);
    O optimizer({w}, options);
    const std::function<void(const Tensor&)> step = [&](const Tensor& x) {
      optimizer.zero_grad();
      (w * x).square().sum().backward();
      optimizer.step();
    };
    auto f = compile(step);
    for (int i = 0; i < 12; ++i) {
      if (i == 6) optimizer.param_groups()[0].options().set_lr(0.003);
      const Tensor x = sample({4, 5}, 1 + 0.1 * i).to(dtype);
      compiled ? f(x) : step(x);
    }
    return w.detach();
  };
  expect_same(train(true, kFloat), train(false, kFloat), 1e-6);
  expect_same(train(true, kDouble), train(false, kDouble), 1e-13);
}

TEST(Options, StepsAreThoseOfEagerOptimizers) {
  expect_steps<optim::Adam>(optim::AdamOptions(0.01));
  expect_steps<optim::Adam>(optim::AdamOptions(0.01).amsgrad(true));
  expect_steps<optim::AdamW>(optim::AdamWOptions(0.01).weight_decay(0.1));
  expect_steps<optim::Adamax>(optim::AdamaxOptions(0.01));
  expect_steps<optim::NAdam>(optim::NAdamOptions(0.01));
  expect_steps<optim::RAdam>(optim::RAdamOptions(0.01));
  expect_steps<optim::Adagrad>(optim::AdagradOptions(0.01).lr_decay(0.1));
}

}  // namespace

}  // namespace sy
