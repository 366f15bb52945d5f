#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

// Calls that cannot be replayed run, and say why.

namespace sy {

namespace {

void expect_same(const Tensor& got, const Tensor& want) {
  EXPECT_TRUE(equal(got, want)) << got << want;
}

template <class F>
void expect_break(F body, const std::string& why) {
  Tensor x = arange(6, TensorOptions(kFloat));
  auto f = compile(body);
  for (int i = 0; i < 3; ++i) {
    x = x + 1;
    const Tensor mine = x.clone(), other = x.clone();
    expect_same(f(mine), body(other));
    expect_same(mine, other);
  }
  EXPECT_EQ(f.counters().replays, 0) << f.explain();
  EXPECT_EQ(f.counters().captures, 3);
  EXPECT_NE(f.explain().find(why), std::string::npos) << f.explain();

  auto full = compile(body, {.name = "all", .fullgraph = true});
  try {
    full(x.clone());
    FAIL() << why;
  } catch (const ValueError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("[compile] all: "), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
  }
}

TEST(Breaks, AValueIsRead) {
  expect_break(
      [](const Tensor& x) {
        const Tensor y = x * 2;
        return y.sum().item<float>() > 50 ? y + 1 : y - 1;
      },
      "item reads elements");
}

TEST(Breaks, AnArgumentIsRead) {
  expect_break(
      [](const Tensor& x) { return x * double{x.const_data_ptr<float>()[0]}; },
      "reads elements");
}

TEST(Breaks, AResultIsWrittenByPointer) {
  expect_break(
      [](const Tensor& x) {
        const Tensor y = x * 2;
        y.mutable_data_ptr<float>()[1] = 5;
        return y + 1;
      },
      "reads elements");
}

TEST(Breaks, TheSizeOfAResultDependsOnData) {
  expect_break([](const Tensor& x) { return nonzero(x > 4).sum(); },
               "aten::nonzero cannot be recorded");
}

TEST(Breaks, AnArgumentIsResized) {
  expect_break(
      [](Tensor x) {
        x.resize_({3});
        return x * 2;
      },
      "the call changes an argument itself: tensor 0: sizes [3], were [6]");
}

TEST(Breaks, MemoryOfTheProgramBecomesATensor) {
  static float numbers[6] = {1, 2, 3, 4, 5, 6};
  expect_break([](const Tensor& x) { return x + from_blob(numbers, {6}); },
               "memory of the program becomes a tensor");
}

// Two tensors of the program that overlap, one of them written.
TEST(Breaks, AWriteBehindAWrite) {
  const Tensor all = arange(8, TensorOptions(kFloat)), want = all.clone();
  const auto body = [](const Tensor& of, const Tensor& x) {
    Tensor first = of.slice(0, 0, 5);
    const Tensor second = of.slice(0, 3, 8);
    first.add_(x);
    return second * 2;
  };
  auto f = compile([&](const Tensor& x) { return body(all, x); });
  for (int i = 0; i < 3; ++i) {
    expect_same(f(ones({5})), body(want, ones({5})));
    expect_same(all, want);
  }
  EXPECT_EQ(f.counters().replays, 0);
  EXPECT_NE(f.explain().find("a write to memory that is also seen"),
            std::string::npos)
      << f.explain();
}

// The piece ends while a call is recorded that reads what it made.
TEST(Breaks, AWriteOfWhatThePieceMade) {
  const Tensor all = arange(8, TensorOptions(kFloat)), want = all.clone();
  const auto body = [](const Tensor& of, const Tensor& x) {
    of.slice(0, 0, 5).copy_(x);
    of.slice(0, 3, 8).copy_(x * 2);
    return of.slice(0, 0, 5) + x.sin();
  };
  auto f = compile([&](const Tensor& x) { return body(all, x); });
  for (int i = 0; i < 3; ++i) {
    expect_same(f(ones({5}) * i), body(want, ones({5}) * i));
    expect_same(all, want);
  }
}

TEST(Breaks, ATensorLivesOn) {
  Tensor state;
  auto f = compile([&](const Tensor& x) {
    state = state.defined() ? state + x : x * 1;
    return state * 2;
  });
  for (int i = 1; i < 5; ++i) {
    expect_same(f(ones({3})), full({3}, 2.0f * float(i)));
    expect_same(state, full({3}, float(i)));
  }
  EXPECT_EQ(f.counters().replays, 0);
  EXPECT_NE(f.explain().find("lives on beyond what the call returns"),
            std::string::npos)
      << f.explain();
}

TEST(Breaks, SaysWhere) {
  auto f = compile([](const Tensor& x) { return x * x.sum().item(); });
  f(ones({2}));
  EXPECT_NE(f.explain().find("breaks_test"), std::string::npos) << f.explain();
}

// The code depends on a number that no guard sees.
double scale = 2;

TEST(Breaks, ACheckFindsWhatNoGuardSees) {
  auto f =
      compile([](const Tensor& x) { return x * scale; }, {.name = "scaled"});
  for (int i = 0; i < 6; ++i) f(ones({2}));
  scale = 3;
  expect_same(f(ones({2})), full({2}, 2.0f));  // this is what a check is for
  compiling::set_check(true);
  try {
    f(ones({2}));
    ADD_FAILURE() << f.explain();
  } catch (const ValueError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("it depends on what no guard sees"), std::string::npos)
        << text;
    EXPECT_NE(text.find("aten::mul"), std::string::npos) << text;
  }
  f.reset();
  for (int i = 0; i < 70; ++i) expect_same(f(ones({2})), full({2}, 3.0f));
  compiling::set_check(false);
  EXPECT_GT(f.counters().checked, 5);
}

}  // namespace

}  // namespace sy
