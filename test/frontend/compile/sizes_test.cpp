#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

#include <cmath>

#include "test/frontend/compile/samples.h"

// A size that changes from call to call. The tests vary what depends on it
// (views, numbers, divisors, broadcasts, other tensors' sizes, gradients, what
// is written, choices by it), the order of the sizes, and which dim it is. All
// values are compared with the code's own, for every size. All on the CPU; one
// size changes at a time.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

const std::vector<int64_t> kUp{2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                               12, 13, 14, 15, 16, 17, 18, 19, 20, 21};
const std::vector<int64_t> kMixed{16, 64, 32, 17, 63, 40, 33, 48, 20, 57,
                                  24, 31, 56, 1,  44, 35, 62, 2,  60, 19};

struct Calls {
  CompileCounters counters;
  std::string explained;
};

// Three rounds of all sizes.
template <class F, class Make>
Calls call_all(F body, Make make, const std::vector<int64_t>& sizes) {
  auto f = compile(body);
  for (int round = 0; round < 3; ++round) {
    for (const int64_t n : sizes) {
      const auto x = make(n, round);
      const Tensor got = f(x);
      expect_same(got, body(x));
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << "size " << n << "\n" << f.explain();
        return {f.counters(), f.explain()};
      }
    }
  }
  return {f.counters(), f.explain()};
}

Tensor rows(int64_t n, int round) {
  return sample({n, 6}, 0.3 * round + n).clone();
}

template <class F>
void expect_open(F body, int64_t most = 2) {
  for (const auto& sizes : {kUp, kMixed}) {
    const Calls c = call_all(body, rows, sizes);
    EXPECT_LE(c.counters.captures, most) << c.explained;
    EXPECT_EQ(c.counters.evicted, 0) << c.explained;
    EXPECT_GE(c.counters.replays, 15) << c.explained;
  }
}

TEST(Sizes, OfABatch) {
  const Tensor w = sample({6, 5}), b = sample({5});
  expect_open([&](const Tensor& x) { return (x.mm(w) + b).tanh().mul(2); });
}

TEST(Sizes, DivisorsOfMeans) {
  expect_open([](const Tensor& x) {
    return x.mean() + x.mean(0) * x.sum(0) + softmax(x, 0).square().mean();
  });
}

TEST(Sizes, AsANumber) {
  expect_open([](const Tensor& x) {
    const auto n = x.size(0);
    return x / static_cast<double>(n) + x.sum() * n +
           1.0 / static_cast<double>(n);
  });
}

TEST(Sizes, InViews) {
  expect_open(
      [](const Tensor& x) {
        const int64_t n = x.size(0);
        const Tensor a = x.view({n, 2, 3}).transpose(0, 1).reshape({2, n * 3});
        const Tensor b = a.slice(1, 0, n) * 2;
        return b + x.select(1, 0).unsqueeze(0);
      },
      3);  // reshape copies nothing where a dim is one
}

TEST(Sizes, Broadcasts) {
  const Tensor row = sample({1, 6});
  expect_open(
      [&](const Tensor& x) {
        const Tensor y = x * 0.02, column = y.mean(1, true);
        return (y * row + column) * column.t().mm(y) + zeros({x.size(0), 6}) +
               ones({x.size(0), 1});
      },
      3);  // one row is a broadcast too
}

TEST(Sizes, Squares) {
  expect_open([](const Tensor& x) { return softmax(x.mm(x.t()), 1).mm(x); });
}

TEST(Sizes, LastDims) {
  const auto body = [](const Tensor& x) {
    return layer_norm(x, {x.size(1)}) + x.mean({1}, true);
  };
  const auto make = [](int64_t n, int round) {
    return sample({4, n}, 0.3 * round + n);
  };
  const Calls c = call_all(body, make, kMixed);
  EXPECT_LE(c.counters.captures, 2) << c.explained;
}

TEST(Sizes, OfSeveralTensors) {
  auto f = compile([](const Tensor& x, const Tensor& y) {
    return cross_entropy_loss(x, y);
  });
  for (int round = 0; round < 3; ++round) {
    for (const int64_t n : kUp) {
      const Tensor x = rows(n, round);
      const Tensor y = (arange(n) * (3 + round)).remainder(6);
      expect_same(f(x, y), cross_entropy_loss(x, y));
    }
  }
  EXPECT_LE(f.counters().captures, 2) << f.explain();
  EXPECT_EQ(f.counters().evicted, 0);
}

TEST(Sizes, OfGradients) {
  Tensor w = sample({6, 5}).clone().requires_grad_();
  const auto body = [&](const Tensor& x) { return x.mm(w).tanh().mean(0); };
  auto f = compile(body);
  const auto gradients = [&](auto& g, int64_t n, int round) {
    Tensor x = rows(n, round).clone().requires_grad_();
    w.mutable_grad().reset();
    g(x).square().sum().backward();
    return std::pair(x.grad(), w.grad());
  };
  for (int round = 0; round < 3; ++round) {
    for (const int64_t n : kUp) {
      const auto got = gradients(f, n, round), want = gradients(body, n, round);
      expect_same(got.first, want.first);
      expect_same(got.second, want.second);
    }
  }
  EXPECT_LE(f.counters().captures, 2) << f.explain();
  EXPECT_GE(f.counters().backwards, 40);
}

TEST(Sizes, OfATrainingStep) {
  const auto train = [](bool compiled, CompileCounters* c) {
    Tensor w = sample({6, 5}).clone().requires_grad_();
    const auto body = [&](const Tensor& x) {
      const Tensor loss = x.mm(w).tanh().square().mean();
      w.mutable_grad().reset();
      loss.backward();
      const NoGradGuard no_grad;
      w.add_(w.grad(), -0.1);
      return loss.detach();
    };
    auto f = compile(body);
    std::vector<Tensor> all;
    for (int round = 0; round < 3; ++round) {
      for (const int64_t n : kUp) {
        const Tensor x = rows(n, round);
        all.push_back(compiled ? f(x) : body(x));
        all.push_back(w.detach().clone());
      }
    }
    *c = f.counters();
    return all;
  };
  CompileCounters c;
  const auto want = train(false, &c), got = train(true, &c);
  for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], want[i]);
  // One more for the first call, which has no .grad.
  EXPECT_LE(c.captures, 3);
}

TEST(Sizes, OfWrittenArguments) {
  auto f = compile([](Tensor x) {
    x.slice(0, 1, x.size(0)).mul_(2);
    x.add_(1);
    return x.t() * 3;
  });
  for (int round = 0; round < 3; ++round) {
    for (const int64_t n : kUp) {
      Tensor x = rows(n, round).clone(), y = x.clone();
      const Tensor got = f(x);
      y.slice(0, 1, n).mul_(2);
      y.add_(1);
      expect_same(x, y);
      expect_same(got, y.t() * 3);
    }
  }
}

// A number that no rule knows is captured, and right.
TEST(Sizes, NumbersWithoutARule) {
  const auto roots = [](const Tensor& x) {
    return x * std::sqrt(static_cast<double>(x.size(0)));
  };
  const auto padded = [](const Tensor& x) {
    const int64_t n = x.size(0), wide = (n + 7) / 8 * 8;
    return cat({x, zeros({wide - n, 6})});
  };
  const auto halves = [](const Tensor& x) {
    return x.slice(0, 0, x.size(0) / 2) * 2;
  };
  for (const auto& sizes : {kUp, kMixed}) {
    call_all(roots, rows, sizes);
    call_all(padded, rows, sizes);
    call_all(halves, rows, sizes);
  }
}

// Choices by the size show in no graph. Each of the two is a family of sizes.
TEST(Sizes, Choices) {
  const auto limit = [](const Tensor& x) {
    return x.size(0) > 9 ? x * 2 : x + 1;
  };
  const auto even = [](const Tensor& x) {
    return x.size(0) % 2 == 0 ? x * 2 : x + 1;
  };
  const auto eighth = [](const Tensor& x) {
    return x.size(0) % 8 == 0 ? x * 2 : x + 1;
  };
  const auto one = [](const Tensor& x) {
    return x.size(0) == 1 ? x * 2 : x + 1;
  };
  for (const auto& sizes : {kUp, kMixed}) {
    EXPECT_EQ(call_all(limit, rows, sizes).counters.captures, 4);
    EXPECT_EQ(call_all(even, rows, sizes).counters.captures, 4);
    call_all(eighth, rows, sizes);
    call_all(one, rows, sizes);
  }
}

// Sizes of one callable are one of its variants.
TEST(Sizes, CountAsOneVariant) {
  auto f =
      compile([](const Tensor& x) { return x * 2 + 1; }, {.max_variants = 1});
  for (int round = 0; round < 3; ++round) {
    for (const int64_t n : kUp) {
      const Tensor x = rows(n, round);
      expect_same(f(x), x * 2 + 1);
    }
  }
  EXPECT_EQ(f.counters().captures, 2) << f.explain();
  EXPECT_EQ(f.counters().sizes, 18) << f.explain();
  EXPECT_EQ(f.counters().evicted, 0) << f.explain();
  const Tensor x = rows(3, 0).t();
  expect_same(f(x.contiguous().view({3, 3, 2})),
              x.contiguous().view({3, 3, 2}) * 2 + 1);
  EXPECT_EQ(f.counters().variants, 1) << f.explain();
}

// A size that is also given as a number is another variant each time.
TEST(Sizes, GivenAsNumbers) {
  const auto body = [](const Tensor& x, int64_t n) { return x * n; };
  auto f = compile(body);
  for (int round = 0; round < 3; ++round) {
    for (const int64_t n : {2, 3, 4}) {
      expect_same(f(rows(n, round), n), body(rows(n, round), n));
    }
  }
  EXPECT_EQ(f.counters().captures, 3) << f.explain();
}

// The code changes unseen: checks are those of all sizes together.
TEST(Sizes, AChangeIsFound) {
  static double factor;
  factor = 2;
  const auto body = [](const Tensor& x) { return x * factor; };
  auto f = compile(body);
  for (int i = 0; i < 40; ++i) f(rows(2 + i % 5, i));
  factor = 3;
  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    const Tensor x = rows(2 + i % 5, i);
    wrong += !equal(f(x), body(x));
  }
  EXPECT_LE(wrong, 64) << f.explain();
  EXPECT_EQ(f.counters().untold, 1) << f.explain();
}

TEST(Sizes, ExplainSaysWhich) {
  auto f = compile([](const Tensor& x) { return x + 1; });
  for (const int64_t n : {4, 5, 6, 7}) f(rows(n, 0));
  const std::string text = f.explain();
  EXPECT_NE(text.find("2 recorded for another size"), std::string::npos)
      << text;
  EXPECT_NE(text.find("tensor 0: sizes [7, 6], were [6, 6]"), std::string::npos)
      << text;
}

}  // namespace

}  // namespace sy
