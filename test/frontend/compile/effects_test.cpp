#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/frontend/compile/samples.h"

// Code that looks at a value and writes what it sees: sums of losses, counters,
// lists. Values come again and again, so that a replay could find each branch;
// but what the code writes must be written at each call. Each test runs the
// compiled callable and the plain one side by side, 60 calls, each on a state
// of its own. They never vary sizes, nor the values looked at (four).

namespace sy {

namespace {

using test::expect_same;
using test::sample;

constexpr int kCalls = 60;

// `make(state)` gives a step that writes `state`.
template <class State, class Make>
CompileCounters check(const Make& make) {
  auto mine = std::make_unique<State>(), other = std::make_unique<State>();
  auto plain = make(*other);
  auto f = compile(make(*mine));
  for (int i = 0; i < kCalls; ++i) {
    const Tensor x = sample({3, 4}, i % 4);
    const Tensor got = f(x), want = plain(x);
    expect_same(got, want);
    EXPECT_EQ(mine->text(), other->text()) << "call " << i;
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << f.explain();
      break;
    }
  }
  return f.counters();
}

struct Numbers {
  int64_t before[20] = {};
  int count = 0;
  double total = 0;
  float last = 0;
  bool high = false;
  int64_t after[20] = {};
  std::string text() const {
    return std::to_string(count) + " " + std::to_string(total) + " " +
           std::to_string(last) + (high ? " high" : "");
  }
};

TEST(Effects, ASumOnTheHeap) {
  check<Numbers>([](Numbers& n) {
    return [&n](const Tensor& x) {
      n.total += x.sum().item<double>();
      return x * 2;
    };
  });
}

TEST(Effects, AFlagDeepInAnObject) {
  check<Numbers>([](Numbers& n) {
    return [p = &n](const Tensor& x) {
      p->high = x.max().item<float>() > 2.9;
      p->last = x.max().item<float>();
      return x + 1;
    };
  });
}

TEST(Effects, VariablesOnTheStack) {
  int count = 0, wanted = 0;
  double total = 0, sum = 0;
  const auto step = [](const Tensor& x, int* n, double* t) {
    ++*n;
    *t += x.sum().item<double>();
    return x * 2;
  };
  auto f = compile([&](const Tensor& x) { return step(x, &count, &total); });
  for (int i = 0; i < kCalls; ++i) {
    const Tensor x = sample({5}, i % 3);
    expect_same(f(x), step(x, &wanted, &sum));
    EXPECT_EQ(count, wanted);
    EXPECT_EQ(total, sum);
  }
}

struct Lists {
  std::vector<float> losses;
  std::vector<int> fixed = std::vector<int>(8);
  std::string text() const {
    std::string all;
    for (const float l : losses) all += std::to_string(l) + " ";
    for (const int n : fixed) all += std::to_string(n) + " ";
    return all;
  }
};

TEST(Effects, AListThatGrows) {
  check<Lists>([](Lists& l) {
    return [&l](const Tensor& x) {
      l.losses.push_back(x.mean().item<float>());
      return x - 1;
    };
  });
}

TEST(Effects, AnElementOfAList) {
  check<Lists>([](Lists& l) {
    return [&l](const Tensor& x) {
      ++l.fixed[x.sum().item<float>() > 0 ? 2 : 5];
      return x - 1;
    };
  });
}

struct Behind {
  std::unique_ptr<Numbers> numbers = std::make_unique<Numbers>();
  std::string text() const { return numbers->text(); }
};

TEST(Effects, AnObjectBehindAPointer) {
  check<Behind>([](Behind& b) {
    return [&b](const Tensor& x) {
      b.numbers->count += x.sum().item<float>() > 0;
      return x - 1;
    };
  });
}

TEST(Effects, AnObjectThatIsShared) {
  check<Behind>([](Behind& b) {
    auto own = std::make_shared<Numbers>();
    Numbers* const seen = b.numbers.get();
    return [own, seen](const Tensor& x) {
      own->total += x.sum().item<double>();
      return x * own->total + 0 * seen->count;
    };
  });
}

TEST(Effects, TheCallableItself) {
  const auto make = [] {
    return [n = 0](const Tensor& x) mutable {
      if (x.sum().item<float>() > 0) ++n;
      return x + n;
    };
  };
  auto plain = make();
  auto f = compile(make());
  for (int i = 0; i < kCalls; ++i) {
    const Tensor x = sample({5}, i % 3);
    expect_same(f(x), plain(x));
  }
}

// Counting how often the code runs keeps it from nothing: replays do not run
// it.
TEST(Effects, ACounterOfRuns) {
  int runs = 0;
  const auto body = [&](const Tensor& x) {
    ++runs;
    return x.sum().item<float>() >= 1 ? x * 2 : x - 1;
  };
  auto f = compile(body);
  for (int i = 0; i < 400; ++i) {
    const Tensor x = full({4}, i % 2 == 0 ? 1.0 : -1.0);
    const Tensor got = f(x);
    const int before = runs;
    expect_same(got, body(x));
    runs = before;
  }
  EXPECT_LE(f.counters().captures, 3) << f.explain();
  EXPECT_GE(f.counters().replays, 300) << f.explain();
  EXPECT_LE(runs, 40) << f.explain();
}

// The branches differ in what they count.
TEST(Effects, ACounterOfOneBranch) {
  int high = 0, wanted = 0;
  const auto step = [](const Tensor& x, int* n) {
    if (x.sum().item<float>() > 0) ++*n;
    return x * 2;
  };
  auto f = compile([&](const Tensor& x) { return step(x, &high); });
  for (int i = 0; i < kCalls; ++i) {
    const Tensor x = full({4}, i % 2 == 0 ? 1.0 : -1.0);
    expect_same(f(x), step(x, &wanted));
    EXPECT_EQ(high, wanted) << "call " << i;
  }
}

// A graph that is kept shares what its code has used: how many do is no state
// of the code.
TEST(Effects, HowManyShareAnObject) {
  struct Model {
    nn::Linear first{4, 4}, second{4, 4};
    std::shared_ptr<Numbers> numbers{new Numbers};
    Tensor step(const Tensor& x) const {
      if (x.sum().item<float>() > 0) return first->forward(x) + numbers->count;
      return second->forward(x);
    }
  };
  const NoGradGuard no_grad;
  const auto m = std::make_unique<Model>();
  auto f = compile([p = m.get()](const Tensor& x) { return p->step(x); });
  std::vector<std::shared_ptr<Numbers>> others;
  for (int i = 0; i < 200; ++i) {
    if (i % 7 == 0) others.push_back(m->numbers);
    const Tensor x = full({4}, i % 2 == 0 ? 1.0 : -1.0);
    expect_same(f(x), m->step(x));
  }
  EXPECT_GE(f.counters().replays, 100) << f.explain();
}

// Tensors, modules and optimizers are no such state: replays write them.
TEST(Effects, AStepOfTrainingThatLooks) {
  const auto make = [] {
    manual_seed(1);
    const nn::Linear net(4, 2);
    auto opt = std::make_shared<optim::SGD>(net->parameters(), 0.1);
    return [net, opt](const Tensor& x) mutable {
      opt->zero_grad();
      const Tensor loss = net(x).square().mean();
      if (loss.item<float>() > 0.05) {
        loss.backward();
        opt->step();
      }
      return loss.detach();
    };
  };
  auto plain = make();
  auto f = compile(make());
  for (int i = 0; i < kCalls; ++i) {
    const Tensor x = sample({3, 4}, i % 4);
    expect_same(f(x), plain(x));
  }
}

}  // namespace

}  // namespace sy
