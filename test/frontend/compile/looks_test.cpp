#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

#include <cmath>
#include <limits>

#include "test/frontend/compile/samples.h"

// Code that looks at elements (item, nonzero, equal): its calls are replayed
// where it has seen the same before. The tests vary what is looked at, how
// often, its dtype, what is written and drawn before the look, and whether
// values come again. All run on the CPU, and never from two threads.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

Tensor full_of(double value, ScalarType dtype = kFloat) {
  return full({4, 3}, value).to(dtype);
}

// Code that writes a variable that it refers to is not replayed (Effects), but
// nobody looks at global ones.
int runs = 0;

// Calls with each value in turn, `rounds` times; results are those of the body.
// How often the body ran within the compiled callable.
template <class F>
int runs_of(F body, const std::vector<Tensor>& inputs, int rounds,
            CompileCounters* counters = nullptr) {
  runs = 0;
  auto f = compile([&](const Tensor& x) {
    ++runs;
    return body(x);
  });
  for (int round = 0; round < rounds; ++round) {
    for (const Tensor& x : inputs) {
      const Tensor got = f(x);
      const int before = runs;
      expect_same(got, body(x));
      EXPECT_EQ(runs, before);
    }
  }
  if (counters != nullptr) *counters = f.counters();
  return runs;
}

TEST(Looks, TwoBranchesAreTwoCaptures) {
  const Tensor w = sample({3, 3});
  CompileCounters c;
  const auto body = [&](const Tensor& x) {
    const Tensor y = relu(x.mm(w));
    return x.sum().item<float>() >= 1 ? y * 2 : y - 1;
  };
  runs_of(body, {full_of(1), full_of(-1)}, 100, &c);
  EXPECT_EQ(c.captures, 2);
  EXPECT_GE(c.replays + c.checked, 198);
  EXPECT_EQ(c.plain, 0);
}

// A value that differs in its last bit is another one.
TEST(Looks, EveryBitCounts) {
  const float one = 1, more = std::nextafter(one, 2.0f);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto body = [](const Tensor& x) {
    return x * x.select(0, 1).item<float>() + x.select(0, 0).item<double>();
  };
  std::vector<Tensor> inputs;
  for (const float v : {one, more, nan, inf, -inf, 0.0f, -0.0f}) {
    inputs.push_back(tensor({2.0f, v}));
  }
  CompileCounters c;
  runs_of(body, inputs, 10, &c);
  EXPECT_EQ(c.captures, 7);
  EXPECT_GE(c.replays, 7 * 9 - c.checked);
}

// -0.0 is another value than 0.0 even where they compare equal.
TEST(Looks, ZerosAreTold) {
  const auto body = [](const Tensor& x) {
    return full({2}, std::signbit(x.select(0, 0).item<float>()) ? 1.0 : 2.0);
  };
  runs_of(body, {tensor({0.0f}), tensor({-0.0f})}, 5);
}

TEST(Looks, OfAnyDtype) {
  for (const ScalarType t : {kBool, kByte, kChar, kShort, kInt, kLong, kHalf,
                             kBFloat16, kFloat, kDouble}) {
    const auto body = [](const Tensor& x) {
      const Scalar s = x.select(0, 0).select(0, 1).item();
      return x.to(kDouble) + s.to<double>();
    };
    CompileCounters c;
    runs_of(body, {full_of(1, t), full_of(0, t)}, 20, &c);
    EXPECT_EQ(c.captures, 2) << t;
  }
}

TEST(Looks, SeveralAndInLoops) {
  const auto body = [](const Tensor& x) {
    Tensor y = x * 2;
    for (int i = 0; i < 4; ++i) {
      if (x.select(0, i).sum().item<float>() > 0) y = y + x.select(0, i);
      if (y.sum().item<float>() > 20) y = y * 0.5;
    }
    return y;
  };
  std::vector<Tensor> inputs;
  for (int i = 0; i < 6; ++i) inputs.push_back(sample({4, 3}, 1.7 * i));
  CompileCounters c;
  runs_of(body, inputs, 20, &c);
  EXPECT_EQ(c.captures, 6);
}

// Values of before a look are read, written and returned after it.
TEST(Looks, ValuesLiveBeyondALook) {
  const auto body = [](const Tensor& x) {
    const Tensor a = x * 2, b = x + 1, mask = tensor({1.0f, 2.0f, 3.0f});
    Tensor room = zeros({4, 3});
    if (a.sum().item<float>() > 0) room.select(0, 1).add_(mask);
    a.add_(b);
    if (b.sum().item<float>() > 0) mask.mul_(2);
    return cat({a, b, room, mask.unsqueeze(0) * mask, a.t().reshape({4, 3})});
  };
  CompileCounters c;
  runs_of(body, {full_of(3), full_of(-3), full_of(0.5)}, 20, &c);
  EXPECT_EQ(c.captures, 3);
}

TEST(Looks, AViewOfAValueOfBefore) {
  auto f = compile([](const Tensor& x) {
    const Tensor a = x * 2;
    const bool up = x.sum().item<float>() > 0;
    return std::vector<Tensor>{up ? a.t() : a.select(0, 1), a, x.select(0, 2)};
  });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = full_of(i % 2 == 0 ? 1 : -1);
    const std::vector<Tensor> r = f(x);
    expect_same(r[0], i % 2 == 0 ? (x * 2).t() : (x * 2).select(0, 1));
    EXPECT_TRUE(r[0].is_alias_of(r[1]));
    EXPECT_TRUE(r[2].is_alias_of(x));
  }
  EXPECT_EQ(f.counters().captures, 2) << f.explain();
}

// A look that sees something new undoes what was written before it.
TEST(Looks, WritesBeforeALookHappenOnce) {
  Tensor state = zeros({3}), want = zeros({3});
  static const auto body = [](Tensor s, Tensor x) {
    s.add_(1);
    x.mul_(2);
    return s.sum().item<float>() > 12 ? x + s : x - s;
  };
  auto f = compile([&](const Tensor& x) { return body(state, x); });
  for (int i = 0; i < 40; ++i) {
    if (i % 6 == 5) {  // values come again
      state.zero_();
      want.zero_();
    }
    const Tensor x = sample({3}, i).clone(), y = x.clone();
    expect_same(f(x), body(want, y));
    expect_same(x, y);
    expect_same(state, want);
  }
  EXPECT_LE(f.counters().captures, 6) << f.explain();
}

TEST(Looks, NumbersAreDrawnOnce) {
  const auto body = [](const Tensor& x) {
    const Tensor noise = rand({3});
    const bool up = (noise + x).sum().item<float>() > 1.5;
    return up ? noise + rand({3}) : noise * x;
  };
  auto f = compile(body);
  for (int i = 0; i < 30; ++i) {
    const Tensor x = sample({3}, i % 3);
    manual_seed(i % 5);
    const Tensor got = f(x), after = rand({2});
    manual_seed(i % 5);
    expect_same(got, body(x));
    expect_same(after, rand({2}));
  }
}

TEST(Looks, SizesThatDependOnData) {
  const auto body = [](const Tensor& x) {
    const Tensor at = nonzero(x > 0.5);
    const Tensor some = masked_select(x, x > 0);
    return some.sum() + at.size(0) + at.sum() + some.size(0);
  };
  std::vector<Tensor> inputs;
  for (int i = 0; i < 5; ++i) inputs.push_back(sample({4, 3}, i));
  inputs.push_back(full_of(-1));
  inputs.push_back(full_of(1));
  CompileCounters c;
  runs_of(body, inputs, 12, &c);
  EXPECT_LE(c.captures, 7);
  // Other elements of the same sizes are replayed.
  auto f = compile(body);
  for (int i = 0; i < 10; ++i) {
    const Tensor x = full_of(1 + 0.1 * i);
    expect_same(f(x), body(x));
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(Looks, ComparisonsOfTensors) {
  const Tensor limit = full_of(2);
  const auto body = [&](const Tensor& x) {
    return equal(x, limit) ? x * 3 : x - 1;
  };
  CompileCounters c;
  runs_of(body, {full_of(2), full_of(1), full_of(0)}, 10, &c);
  EXPECT_EQ(c.captures, 2);
}

// Each call looks anew at what a tensor of the program has.
TEST(Looks, AtATensorOfTheProgram) {
  Tensor scale = full({}, 2.0);
  const auto body = [&](const Tensor& x) { return x * scale.item<double>(); };
  auto f = compile(body);
  for (int i = 0; i < 12; ++i) {
    scale.fill_(i % 3);
    const Tensor x = sample({3}, i);
    expect_same(f(x), body(x));
  }
  EXPECT_EQ(f.counters().captures, 3) << f.explain();
}

// Both branches know the tensor that is replaced.
TEST(Looks, ATensorOfTheProgramIsReplaced) {
  Tensor w = sample({3});
  const auto body = [&](const Tensor& x) {
    const Tensor y = x * w;
    return x.sum().item<float>() > 0 ? y + 1 : y * w;
  };
  auto f = compile(body);
  const Tensor up = full({3}, 1.0), down = full({3}, -1.0);
  for (int i = 0; i < 120; ++i) {
    if (i % 30 == 29) w = sample({3}, i);
    const Tensor& x = i % 2 == 0 ? up : down;
    expect_same(f(x), body(x));
  }
  EXPECT_GE(f.counters().replays, 6) << f.explain();
}

TEST(Looks, Training) {
  const auto train = [](bool compiled) {
    Tensor w = sample({3, 5}).clone().requires_grad_();
    const auto body = [&](const Tensor& x) {
      const Tensor loss = (x.mm(w)).tanh().square().mean();
      w.mutable_grad().reset();
      loss.backward();
      const bool bad = (w.grad().abs().amax() > 1e9).item<bool>();
      const NoGradGuard no_grad;
      if (!bad) w.add_(w.grad(), -0.1);
      return loss.detach();
    };
    auto f = compile(body);
    std::vector<Tensor> losses;
    for (int i = 0; i < 30; ++i) {
      Tensor x = sample({4, 3}, i);
      if (i % 7 == 6) x = x * 1e30;
      losses.push_back(compiled ? f(x) : body(x));
      losses.push_back(w.detach().clone());
      losses.push_back(w.grad());
    }
    if (compiled) {
      EXPECT_LE(f.counters().captures, 4) << f.explain();
    }
    return losses;
  };
  const auto got = train(true), want = train(false);
  for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], want[i]);
}

// They go through the code's own history: the call is not kept.
TEST(Looks, GradientsOfResults) {
  const auto run = [](bool compiled) {
    Tensor w = sample({3, 5}).clone().requires_grad_();
    const auto body = [&](const Tensor& x) {
      const Tensor y = x.mm(w).tanh();
      const bool up = y.sum().item<float>() > 0;
      return std::vector<Tensor>{up ? y.exp() : y * y, y};
    };
    auto f = compile(body);
    std::vector<Tensor> all;
    for (int i = 0; i < 24; ++i) {
      Tensor x = sample({4, 3}, i % 4).requires_grad_();
      w.mutable_grad().reset();
      const auto r = compiled ? f(x) : body(x);
      (r[0].sum() + (r[1] * r[1]).sum()).backward();
      all.insert(all.end(), {r[0].detach(), r[1].detach(), x.grad(), w.grad()});
    }
    if (compiled) {
      EXPECT_EQ(f.counters().replays, 0) << f.explain();
    }
    return all;
  };
  const auto got = run(true), want = run(false);
  for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], want[i]);
}

TEST(Looks, AValueThatLivesOnIsNotReplayed) {
  Tensor kept;
  auto f = compile([&](const Tensor& x) {
    kept = x * 3;
    return kept.sum().item<float>() > 0 ? x + 1 : x - 1;
  });
  for (int i = 0; i < 6; ++i) {
    f(full_of(2));
    expect_same(kept, full_of(6));
    kept = Tensor();
  }
  EXPECT_EQ(f.counters().replays, 0);
  EXPECT_NE(f.explain().find("lives on beyond"), std::string::npos);
}

// Values that never come again: the code runs as it is, after some captures.
TEST(Looks, ValuesThatNeverRepeatCostFewCaptures) {
  const auto body = [](const Tensor& x) {
    return x.sum().item<float>() >= 1 ? x * 2 : x - 1;
  };
  auto f = compile(body);
  for (int i = 0; i < 1000; ++i) {
    const Tensor x = full_of(0.001 * i);
    expect_same(f(x), body(x));
  }
  EXPECT_LE(f.counters().captures, 40) << f.explain();
  EXPECT_GE(f.counters().plain, 900) << f.explain();
  EXPECT_NE(f.explain().find("calls ran the code as it is"), std::string::npos)
      << f.explain();
  // They come again: after a while, they are replayed.
  for (int i = 0; i < 4000; ++i) f(full_of(1));
  EXPECT_GE(f.counters().replays, 1000) << f.explain();
}

TEST(Looks, ExplainSaysWhatWasSeen) {
  auto f = compile([](const Tensor& x) {
    return x.sum().item<float>() > 0 ? x + 1 : x - 1;
  });
  Tensor x = full_of(2);
  f(x);
  f(x);
  x.fill_(-1);
  f(x);
  const std::string text = f.explain();
  EXPECT_NE(text.find("saw 24"), std::string::npos) << text;
  EXPECT_NE(text.find("captured for: item saw something new"),
            std::string::npos)
      << text;
}

}  // namespace

}  // namespace sy
