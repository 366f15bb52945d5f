#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

#include <functional>

#include "test/frontend/compile/samples.h"

// Calls that are captured and replayed do what the callable does.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

TEST(Compile, ReplaysTheResult) {
  const Tensor w = sample({4, 16});
  int runs = 0;
  auto f = compile([&](const Tensor& x) {
    ++runs;
    return (linear(x, w) * 2 + 1).tanh();
  });
  for (int i = 0; i < 100; ++i) {
    const Tensor x = sample({8, 16}, i);
    expect_same(f(x), (linear(x, w) * 2 + 1).tanh());
  }
  const CompileCounters c = f.counters();
  EXPECT_EQ(c.captures, 1);
  EXPECT_EQ(c.replays + c.checked, 99);
  EXPECT_GT(c.replays, 80);
  EXPECT_EQ(runs, 1 + c.checked);
  EXPECT_NE(f.explain().find("100 calls, 1 captured, "), std::string::npos)
      << f.explain();
}

TEST(Compile, EachVariantSaysWhyItWasMade) {
  auto f = compile([](const Tensor& x, double scale) { return x * scale; });
  const auto expect_capture = [&](const Tensor& x, double s,
                                  const std::string& why) {
    const int64_t before = f.counters().captures;
    expect_same(f(x, s), x * s);
    EXPECT_EQ(f.counters().captures, before + 1) << why;
    EXPECT_NE(f.explain().find(why), std::string::npos) << f.explain();
    expect_same(f(x, s), x * s);
    EXPECT_EQ(f.counters().captures, before + 1) << why;
  };
  const Tensor x = sample({4, 6});
  expect_capture(x, 2, "the first call");
  expect_capture(sample({5, 6}), 2, "tensor 0: sizes [5, 6], were [4, 6]");
  expect_capture(sample({6, 5}).t(), 2, "tensor 0: strides [1, 5], were");
  expect_capture(x.to(kDouble), 2, "tensor 0: ");
  expect_capture(x, 3, "tensor 0: dtype float32, was float64");
  expect_capture(x, 4, "an argument that is no tensor differs");
  {
    const NoGradGuard no_grad;
    expect_capture(x, 4, "the modes of the thread differ");
  }
}

TEST(Compile, KeepsAsManyVariantsAsItMay) {
  auto f = compile([](const Tensor& x) { return x + 1; },
                   {.name = "more", .max_variants = 2});
  const auto call = [&](size_t dims) {
    const Tensor x = sample(std::vector<int64_t>(dims, 2));
    expect_same(f(x), x + 1);
  };
  for (size_t dims = 1; dims < 6; ++dims) call(dims);
  EXPECT_EQ(f.counters().variants, 2);
  EXPECT_EQ(f.counters().evicted, 3);
  call(4);
  EXPECT_EQ(f.counters().captures, 5);
  f.reset();
  EXPECT_EQ(f.counters().variants, 0);
}

TEST(Compile, TakesAndReturnsListsAndTuples) {
  auto f = compile([](const std::vector<Tensor>& list, int64_t k,
                      std::string_view what, std::optional<Tensor> more) {
    std::vector<Tensor> out;
    for (const Tensor& t : list) out.push_back(t * k);
    const Tensor sum = more ? list[0] + *more : list[0] + 1;
    return std::tuple(out, std::pair(sum, what == "none" ? Tensor() : sum * 2));
  });
  const std::vector<Tensor> list{sample({3}), sample({2, 2})};
  for (int i = 0; i < 3; ++i) {
    const auto [out, both] = f(list, 3, "all", std::optional<Tensor>());
    ASSERT_EQ(out.size(), 2u);
    expect_same(out[1], list[1] * 3);
    expect_same(both.first, list[0] + 1);
    expect_same(both.second, (list[0] + 1) * 2);
    EXPECT_FALSE(std::get<1>(f(list, 3, "none", std::optional(list[0])))
                     .second.defined());
  }
  EXPECT_EQ(f.counters().captures, 2);
}

TEST(Compile, WritesArgumentsAndTensorsOfTheProgram) {
  Tensor mean = zeros({4});
  auto f = compile([&](Tensor x, const Tensor& y) {
    x.mul_(2).add_(y);
    mean.mul_(0.9).add_(y, 0.1);
    x.select(0, 1).zero_();
    return mean.sum();
  });
  Tensor want_mean = zeros({4});
  for (int i = 0; i < 4; ++i) {
    const Tensor x = sample({3, 4}, i), y = sample({4}, 2 * i);
    Tensor want = x.clone();
    const void* const at = x.const_data_ptr();
    const uint32_t version = x.impl()->version();
    const Tensor sum = f(x, y);
    want.mul_(2).add_(y);
    want.select(0, 1).zero_();
    want_mean.mul_(0.9).add_(y, 0.1);
    expect_same(x, want);
    expect_same(mean, want_mean);
    expect_same(sum, want_mean.sum());
    EXPECT_EQ(x.const_data_ptr(), at);
    EXPECT_GT(x.impl()->version(), version);
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(Compile, SwapsAndRotatesMemory) {
  auto f = compile([](Tensor a, Tensor b, Tensor c) {
    const Tensor t = a.clone();
    a.copy_(b);
    b.copy_(c);
    c.copy_(t);
    return t + 0;
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor a = sample({5}, i), b = sample({5}, i + 9), c = sample({5}, 4);
    const Tensor a0 = a.clone(), b0 = b.clone(), c0 = c.clone();
    expect_same(f(a, b, c), a0);
    expect_same(a, b0);
    expect_same(b, c0);
    expect_same(c, a0);
  }
  EXPECT_EQ(f.counters().captures, 1);
}

// A result that lies where the old elements of a written argument were.
TEST(Compile, ResultsDoNotShareMemoryWithWhatIsWritten) {
  auto f = compile([](Tensor w) {
    const Tensor y = w * 2;
    w.fill_(7);
    return y;
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor w = sample({8}, i);
    const Tensor want = w * 2;
    const Tensor got = f(w);
    expect_same(got, want);
    expect_same(w, full({8}, 7.0f));
    w.zero_();
    expect_same(got, want);
  }
}

TEST(Compile, ReturnsArgumentsAndViews) {
  const Tensor own = sample({6}).clone();
  auto f = compile([&](const Tensor& x) {
    const Tensor y = x * 2;
    return std::vector<Tensor>{x,     x.t(), x.select(1, 2),     y,
                               y.t(), own,   own.slice(0, 2, 4), Tensor()};
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = sample({3, 4}, i);
    const std::vector<Tensor> r = f(x);
    EXPECT_TRUE(r[0].is_same(x));
    EXPECT_TRUE(r[1].is_alias_of(x));
    expect_same(r[1], x.t());
    expect_same(r[2], x.select(1, 2));
    EXPECT_TRUE(r[4].is_alias_of(r[3]));
    expect_same(r[4], (x * 2).t());
    EXPECT_TRUE(r[5].is_same(own));
    expect_same(r[6], own.slice(0, 2, 4));
    EXPECT_TRUE(r[6].is_alias_of(own));
    EXPECT_FALSE(r[7].defined());
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(Compile, ReadsSlicesOfLargerMemory) {
  const Tensor data = sample({64, 8});
  auto f = compile([](const Tensor& x, const Tensor& y) {
    return (x * 2 + 1).matmul(y.t());
  });
  for (int i = 0; i < 4; ++i) {
    const Tensor x = data.slice(0, 16 * i, 16 * i + 16);
    const Tensor y = data.slice(1, 0, 8).slice(0, 0, 5);
    expect_same(f(x, data.slice(0, 3, 8)),
                (x * 2 + 1).matmul(data.slice(0, 3, 8).t()));
    static_cast<void>(y);
  }
}

TEST(Compile, WritesPartsThatOverlap) {
  const auto body = [](Tensor x) {
    x.slice(0, 0, 4).mul_(2);
    x.slice(0, 2, 6).add_(1);
    return x.slice(0, 1, 5) * x.slice(0, 0, 4);
  };
  auto f = compile(body);
  for (int i = 0; i < 3; ++i) {
    const Tensor x = sample({6}, i), y = x.clone();
    expect_same(f(x), body(y));
    expect_same(x, y);
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(Compile, ArgumentsMayShareMemory) {
  auto f = compile([](Tensor a, const Tensor& b) {
    a.add_(1);
    return a + b;
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor a = sample({4}, i), b = sample({4}, 5), c = a.clone();
    expect_same(f(a, b), c + 1 + b);
    expect_same(f(a, a), (c + 2) * 2);
    const Tensor all = sample({6}, i);
    Tensor want = all.clone();
    want.slice(0, 0, 4).add_(1);
    const Tensor sum = want.slice(0, 0, 4) + want.slice(0, 2, 6);
    expect_same(f(all.slice(0, 0, 4), all.slice(0, 2, 6)), sum);
    expect_same(all, want);
  }
}

TEST(Compile, DrawsTheNumbersOfTheCallable) {
  const auto body = [](const Tensor& x, const Tensor& p) {
    const Tensor noise = randn(x.sizes());
    const Tensor kept = dropout(x, 0.5, true);
    const Tensor order = randperm(x.size(0));
    const Tensor unused = rand({3});
    const Tensor coin = bernoulli(p);
    return std::vector<Tensor>{noise, kept,         order,
                               coin,  rand_like(x), x.clone().normal_()};
  };
  auto f = compile(body);
  const Tensor x = sample({5, 3}), p = (sample({4}) * 0.1 + 0.5);
  for (int i = 0; i < 4; ++i) {
    manual_seed(i);
    const std::vector<Tensor> got = f(x, p);
    const Tensor after = rand({2});
    manual_seed(i);
    const std::vector<Tensor> want = body(x, p);
    for (size_t k = 0; k < want.size(); ++k) expect_same(got[k], want[k]);
    expect_same(after, rand({2}));
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(Compile, ConstantsStay) {
  auto f = compile([](const Tensor& x) {
    const Tensor mask = tensor({1.0f, 0.0f, 2.0f});
    Tensor room = empty({3});
    room.copy_(x);
    room.slice(0, 0, 1).fill_(9);
    const Tensor pairs = combinations(arange(3), 2);
    return std::pair(x * mask + room, pairs);
  });
  for (int i = 0; i < 4; ++i) {
    const Tensor x = sample({3}, i);
    Tensor room = x.clone();
    room.slice(0, 0, 1).fill_(9);
    const auto [y, pairs] = f(x);
    expect_same(y, x * tensor({1.0f, 0.0f, 2.0f}) + room);
    expect_same(pairs, combinations(arange(3), 2));
    pairs.zero_();
    y.zero_();
  }
  EXPECT_EQ(f.counters().captures, 1) << f.explain();
}

TEST(Compile, EmptyTensorsAndNumbers) {
  auto f = compile([](const Tensor& x, const Tensor& n) {
    return std::pair(cat({x, x}) * n, n + 1);
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = empty({0, 3}), n = full({}, 2.0f + float(i));
    const auto [y, m] = f(x, n);
    EXPECT_EQ(y.sizes(), IntArrayRef({0, 3}));
    expect_same(m, n + 1);
  }
}

TEST(Compile, WithinAnotherCaptureIsPartOfIt) {
  auto inner = compile([](const Tensor& x) { return x * 2; });
  auto outer = compile([&](const Tensor& x) { return inner(x) + 1; });
  for (int i = 0; i < 30; ++i) {
    expect_same(outer(sample({4}, i)), sample({4}, i) * 2 + 1);
  }
  EXPECT_EQ(inner.counters().plain, 1 + outer.counters().checked);
  EXPECT_GT(outer.counters().replays, 15);
}

TEST(Compile, CallsOfTheLazyDeviceArePassedOn) {
  load_library("lazy").keep();
  auto f = compile([](const Tensor& x) { return x * 2; });
  expect_same(f(sample({4}).to("lazy")).cpu(), sample({4}) * 2);
  EXPECT_EQ(f.counters().plain, 1);
}

TEST(Compile, ATensorOfTheProgramThatIsReplacedIsSeen) {
  Tensor w = sample({4});
  auto f = compile([&](const Tensor& x) { return x * w; });
  const Tensor x = sample({4}, 3);
  expect_same(f(x), x * w);
  w = sample({4}, 8);
  expect_same(f(x), x * w);
  expect_same(f(x), x * w);
  EXPECT_EQ(f.counters().captures, 2);
}

TEST(Compile, FailsAsTheKernelDoesAndGoesOn) {
  auto f = compile([](const Tensor& x, const Tensor& i) {
    return index_select(x * 2, 0, i) + 1;
  });
  const Tensor x = sample({4, 2});
  const Tensor good = tensor({1, 3}, kLong), bad = tensor({1, 9}, kLong);
  EXPECT_THROW(f(x, bad), Error);
  for (int i = 0; i < 3; ++i) {
    expect_same(f(x, good), index_select(x * 2, 0, good) + 1);
    try {
      f(x, bad);
      FAIL();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("[index_select]"), std::string::npos)
          << e.what();
    }
  }
}

// The callable's exceptions pass through, and what it has done is done.
TEST(Compile, ExceptionsPass) {
  Tensor seen = zeros({2});
  auto g = compile([&](const Tensor& x) {
    seen.add_(x);
    return linear(x, ones({3, 3}));
  });
  EXPECT_THROW(g(ones({2})), ValueError);
  expect_same(seen, ones({2}));
  expect_same(ones({2}) + 1, full({2}, 2.0f));
}

TEST(Compile, LongChainsEnd) {
  auto f = compile([](Tensor x) {
    for (int i = 0; i < 20000; ++i) x = x + 1;
    for (int i = 0; i < 20000; ++i) x * 2;
    return x;
  });
  expect_same(f(zeros({2})), full({2}, 20000.0f));
  expect_same(f(ones({2})), full({2}, 20001.0f));
}

TEST(Compile, Modes) {
  auto f = compile([](const Tensor& x) { return x * 2; });
  const Tensor x = sample({3});
  for (int i = 0; i < 2; ++i) {
    const InferenceMode mode;
    EXPECT_TRUE(f(x).is_inference());
  }
  EXPECT_FALSE(f(x).is_inference());
}

}  // namespace

}  // namespace sy
