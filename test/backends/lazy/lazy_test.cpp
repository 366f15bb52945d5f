#include <cstdlib>
#include <string>

#include "test/backends/lazy/on_lazy.h"

// A program sees on the lazy device what it sees on the CPU, only later.

namespace sy {
namespace {

int64_t runs() { return lazy::counters().runs; }
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Lazy, NothingRunsBeforeAValueIsAskedFor) {
  const Tensor x = sample({8, 100}), l = x.to(lazy_device());
  const int64_t before = runs();
  const Tensor y = ((l * 2 + 1).tanh() - l).abs().sqrt();
  EXPECT_EQ(y.raw_data(), nullptr);
  EXPECT_EQ(runs(), before);
  expect_same(y, ((x * 2 + 1).tanh() - x).abs().sqrt());
  EXPECT_EQ(runs(), before + 1);
  y.to(kCPU);
  EXPECT_EQ(runs(), before + 1) << "a value is computed once";
}

// The device's kernel is called without the guard of _copy_from.
TEST(Lazy, CopiesRefuseSizesThatDoNotBroadcast) {
  const Tensor pair = sample({2}).to(lazy_device());
  Tensor one = sample({}).to(lazy_device()),
         row = sample({3}).to(lazy_device());
  EXPECT_THROW(one.copy_(pair), ValueError);
  EXPECT_THROW(row.copy_(pair), ValueError);
  EXPECT_THROW(row.copy_(sample({2})), ValueError);
  EXPECT_THROW(_copy_from(pair, one), ValueError);
  EXPECT_THROW(_foreach_copy_({one}, {pair}), ValueError);
  expect_same(one, sample({}));
}

TEST(Lazy, SyncComputesWhatTensorsHold) {
  const Tensor x = sample({16}).to(lazy_device());
  const Tensor a = x + 1;
  { const Tensor dropped = x.exp(); }
  lazy::sync(lazy::kWait);
  EXPECT_EQ(lazy::graph_text().find("aten::exp"), std::string::npos);
  const int64_t before = runs();
  expect_same(a, sample({16}) + 1);
  EXPECT_EQ(runs(), before);
}

TEST(Lazy, OneCallOfManyIsOneRegion) {
  const Tensor x = sample({16, 300}), l = x.to(lazy_device());
  const lazy::Counters before = lazy::counters();
  const Tensor e = (l - l.amax({1}, true)).exp();
  const Tensor y = e / e.sum({1}, true);
  lazy::sync({y}, lazy::kWait);
  const lazy::Counters now = lazy::counters();
  EXPECT_EQ(now.regions - before.regions, 1) << lazy::plan_text();
  EXPECT_EQ(now.in_regions - before.in_regions, 5);
  EXPECT_EQ(now.kernels, before.kernels);
  expect_same(y, softmax(x, 1));
}

// Both statistics are results of one call from the second step on.
TEST(Lazy, StatisticsOfTrainingAreRecordedInEachStep) {
  const Tensor x = sample({4, 3, 5, 5}), l = x.to(lazy_device());
  Tensor mean = zeros({3}), variance = ones({3});
  Tensor lazy_mean = mean.to(lazy_device()),
         lazy_variance = variance.to(lazy_device());
  const lazy::Counters before = lazy::counters();
  for (int i = 0; i < 4; ++i) {
    batch_norm(x, {}, {}, mean, variance, true, 0.1, 1e-5, false);
    batch_norm(l, {}, {}, lazy_mean, lazy_variance, true, 0.1, 1e-5, false);
    if (i % 2 == 1) lazy::sync(lazy::kWait);
  }
  EXPECT_EQ(lazy::counters().ran_at_once, before.ran_at_once);
  EXPECT_EQ(lazy::counters().runs, before.runs + 2);
  expect_same(lazy_mean, mean);
  expect_same(lazy_variance, variance);
}

TEST(Lazy, EqualCallsRunOnce) {
  const Tensor x = sample({8, 3}), l = x.to(lazy_device());
  const auto program = [](const Tensor& t) {
    return (t * 0.5).exp() + (t * 0.5).exp().t().t() * (t * -0.5).exp() +
           t.sum({1}, true) - t.sum({1}, true);
  };
  const Tensor y = program(l);
  const std::string text = lazy::graph_text({y});
  const auto count = [&](std::string_view name) {
    int n = 0;
    for (size_t at = text.find(name); at != text.npos;
         at = text.find(name, at + 1)) {
      ++n;
    }
    return n;
  };
  EXPECT_EQ(count("aten::exp"), 2) << text;
  EXPECT_EQ(count("aten::sum"), 1) << text;
  expect_same(y, program(x));
  // Both are held: both are computed.
  const Tensor a = l.tanh(), b = l.tanh();
  lazy::sync(lazy::kWait);
  expect_same(a, x.tanh());
  expect_same(b, x.tanh());
}

TEST(Lazy, ATransposedReaderIsInTheSameRegion) {
  const Tensor x = sample({5, 7}), l = x.to(lazy_device());
  const lazy::Counters before = lazy::counters();
  const Tensor y = (l.exp().t() + 1).tanh();
  lazy::sync({y}, lazy::kWait);
  EXPECT_EQ(lazy::counters().regions - before.regions, 1);
  expect_same(y, (x.exp().t() + 1).tanh());
}

// Groups that meet in one call, and read each other along other dims.
TEST(Lazy, AValueReadStraightAndTransposed) {
  const auto program = [](const Tensor& x) {
    const Tensor shared = x.exp();
    const Tensor sums = cumsum(x, 0);
    const Tensor other = sums.tanh() + shared;
    return (shared * 2 + other.t()) - sums.sin();
  };
  const Tensor x = sample({6, 6});
  expect_same(program(x.to(lazy_device())), program(x));
  // In one group: a value and what reads it across lie in memory alike.
  const auto across = [](const Tensor& t) { return t + (t.exp() + t).t(); };
  expect_same(across(x.to(lazy_device())), across(x));
}

TEST(Lazy, AKernelDoesNotCutTheGraph) {
  const Tensor x = sample({6, 6}), l = x.to(lazy_device());
  const int64_t before = runs();
  const Tensor y = cumsum(mm(l.tanh(), l), 1).relu();
  expect_same(y, cumsum(mm(x.tanh(), x), 1).relu());
  EXPECT_EQ(runs(), before + 1);
}

TEST(Lazy, ABaseAndItsViewsAgree) {
  Tensor x = sample({4, 5}), l = x.to(lazy_device()).clone();
  Tensor row = x.select(0, 1), lazy_row = l.select(0, 1);
  Tensor column = x.t()[2], lazy_column = l.t()[2];
  row.add_(10);
  lazy_row.add_(10);
  expect_same(lazy_column, column);
  column.mul_(2);
  lazy_column.mul_(2);
  expect_same(lazy_row, row);
  x.slice(1, 0, 3).copy_(x.slice(1, 1, 4).clone());
  l.slice(1, 0, 3).copy_(l.slice(1, 1, 4));
  expect_same(l, x);
}

TEST(Lazy, ARecordedReadSeesTheOldElements) {
  Tensor l = sample({8}).to(lazy_device()).clone();
  const Tensor before = l + 0;
  const Tensor part = l.slice(0, 2, 4) * 1;
  l.zero_();
  expect_same(before, sample({8}));
  expect_same(part, sample({8}).slice(0, 2, 4));
  expect_same(l, zeros({8}));
}

TEST(Lazy, AWriteCountsAsAVersion) {
  Tensor l = sample({8}).to(lazy_device()).clone();
  const auto v = l._version();
  l.add_(1);
  EXPECT_GT(l._version(), v);
  Tensor w = sample({8}).to(lazy_device()).requires_grad_();
  Tensor y = w.exp();
  Tensor z = y.sum();
  y.add_(1);
  EXPECT_THROW(z.backward(), Error) << "exp saved what was overwritten";
}

TEST(Lazy, AFilledTensorCountsAVersionToo) {
  Tensor c = zeros({2}), l = zeros({2}, on_lazy());
  const auto cv = c._version(), lv = l._version();
  c.fill_(3);
  l.fill_(3);
  EXPECT_EQ(l._version() - lv, c._version() - cv);
  c.zero_();
  l.zero_();
  EXPECT_EQ(l._version() - lv, c._version() - cv);
}

TEST(Lazy, APointerSeesWhatIsWrittenLater) {
  Tensor l = sample({6}).to(lazy_device()).clone();
  float* const p = l.data_ptr<float>();
  p[0] = 42;
  expect_same(l[0], full({}, 42.0));
  l.add_(1);
  EXPECT_FLOAT_EQ(p[0], 43);
  const Tensor old = l + 0;
  p[1] = 7;
  EXPECT_FLOAT_EQ(l.to(kCPU).const_data_ptr<float>()[1], 7);
  EXPECT_NE(old.to(kCPU).const_data_ptr<float>()[1], 7);
}

TEST(Lazy, OutIsResizedAndWritten) {
  const Tensor a = sample({3, 4}), l = a.to(lazy_device());
  Tensor out = empty({0}, on_lazy());
  add_out(out, l, l);
  expect_same(out, a + a);
  Tensor half = empty({3, 4}, on_lazy(kDouble));
  mul_out(half, l, l);
  EXPECT_EQ(half.scalar_type(), kDouble);
  expect_same(half, (a * a).to(kDouble));
}

TEST(Lazy, GradientsAndUpdatesAreOneGraph) {
  const Tensor x = sample({4, 3}), w0 = sample({2, 3});
  Tensor w = w0.clone().requires_grad_();
  Tensor l = w0.to(lazy_device()).requires_grad_();
  linear(x, w).relu().sum().backward();
  const Tensor lazy_x = x.to(lazy_device());
  const int64_t before = runs();
  linear(lazy_x, l).relu().sum().backward();
  {
    const NoGradGuard no_grad;
    w.add_(w.grad(), -0.1);
    l.add_(l.grad(), -0.1);
  }
  EXPECT_EQ(runs(), before);
  lazy::sync(lazy::kWait);
  EXPECT_EQ(runs(), before + 1);
  expect_same(l.grad(), w.grad());
  expect_same(l.detach(), w.detach());
}

TEST(Lazy, ArgumentsThatAKernelWritesAreRecordedToo) {
  const Tensor x = sample({6, 3});
  Tensor mean = zeros({3}), variance = ones({3});
  Tensor lazy_mean = mean.to(lazy_device()),
         lazy_variance = ones({3}, on_lazy());
  const Tensor none;
  const int64_t before = runs();
  const auto version = mean._version(), lazy_version = lazy_mean._version();
  const auto c =
      native_batch_norm(x, none, none, mean, variance, true, 0.1, 1e-5);
  const auto l = native_batch_norm(x.to(lazy_device()), none, none, lazy_mean,
                                   lazy_variance, true, 0.1, 1e-5);
  EXPECT_EQ(runs(), before);
  expect_same(lazy_mean, mean);
  expect_same(lazy_variance, variance);
  expect_same(std::get<0>(l), std::get<0>(c));
  EXPECT_EQ(lazy_mean._version() - lazy_version, mean._version() - version);
  // Seen by another tensor: the part of a longer one is written on copies.
  Tensor all = zeros({2, 3}, on_lazy());
  native_batch_norm(x.to(lazy_device()), none, none, all[0], all[1], true, 0.1,
                    1e-5);
  EXPECT_FLOAT_EQ(all[0][1].item<float>(), mean[1].item<float>());
}

TEST(Lazy, RandomNumbersAreThoseOfTheCpu) {
  manual_seed(7);
  const Tensor c = dropout(ones({50}), 0.5, true) + rand({50});
  manual_seed(7);
  const Tensor l =
      dropout(ones({50}, on_lazy()), 0.5, true) + rand({50}, on_lazy());
  expect_same(l, c);
}

TEST(Lazy, WhatDependsOnDataRunsAtOnceAndIsCounted) {
  const Tensor x = tensor({1.0F, 0.0F, 2.0F}).to(lazy_device());
  const int64_t before = lazy::counters().by_call;
  EXPECT_EQ((x + 0).nonzero().size(0), 2);
  EXPECT_EQ((x + 1).sum().item<float>(), 6);
  EXPECT_GE(lazy::counters().by_call - before, 1);
}

TEST(Lazy, StrictModeNamesTheCallThatReads) {
  const Tensor x = sample({3}).to(lazy_device());
  const Tensor y = x + 1;
  lazy::set_strict(true);
  const std::string nonzero_says = message_of([&] { y.nonzero(); });
  const std::string copy_says = message_of([&] { y.to(kCPU); });
  lazy::sync(lazy::kWait);
  y.to(kCPU);  // it is computed
  lazy::set_strict(false);
  EXPECT_NE(nonzero_says.find("nonzero"), std::string::npos) << nonzero_says;
  EXPECT_NE(copy_says.find("strict"), std::string::npos) << copy_says;
}

TEST(Lazy, WrongCallsThrowWhereTheyAreMade) {
  const Tensor x = sample({3}).to(lazy_device()),
               y = sample({4}).to(lazy_device());
  EXPECT_THROW(x + y, ValueError);
  EXPECT_THROW(mm(x, y), ValueError);
  expect_same(x + 1, sample({3}) + 1);
}

TEST(Lazy, AWriteRefusesAPartOfItselfAsOnTheCpu) {
  for (const Device d : {Device(kCPU), lazy_device()}) {
    Tensor x = ones({4, 6}).to(d).clone();
    EXPECT_THROW(x.add_(x[0]), ValueError) << d;
    Tensor part = x.slice(0, 0, 3);
    EXPECT_THROW(part.mul_(x.slice(0, 1, 4)), ValueError) << d;
    EXPECT_THROW(add_out(part, x.slice(0, 1, 4), part), ValueError) << d;
    EXPECT_NO_THROW(x.add_(x)) << d;
    EXPECT_NO_THROW(part.add_(x[3])) << d;
    expect_same(x[3], full({6}, 2.0F));
  }
}

TEST(Lazy, AnErrorOfARunLosesNothing) {
  const Tensor x = sample({4, 3}), l = x.to(lazy_device());
  const Tensor good = l.exp() * 2;
  const Tensor at = full({4, 1}, 9, on_lazy(kLong));
  const Tensor bad = gather(good, 1, at);
  const Tensor after = bad + 1;
  const std::string says =
      message_of([&] { lazy::sync({after}, lazy::kWait); });
  EXPECT_NE(says.find("gather"), std::string::npos) << says;
  expect_same(good, x.exp() * 2);
  EXPECT_EQ(message_of([&] { after.to(kCPU); }), says) << "again";
  expect_same(l + 1, x + 1);
}

TEST(Lazy, ManyTensorsAreAllComputedBySync) {
  const Tensor x = sample({4}).to(lazy_device());
  std::vector<Tensor> all;
  for (int i = 0; i < 3000; ++i) all.push_back(x + i);
  lazy::sync(lazy::kWait);
  EXPECT_EQ(lazy::graph_text(all), "");
}

TEST(Lazy, TheBoundOfBytesRunsTheGraph) {
  lazy::set_max_bytes(1 << 20);
  Tensor b = ones({64, 128}, on_lazy());
  const int64_t before = lazy::counters().by_bound;
  for (int i = 0; i < 500; ++i) b = b + 1;
  EXPECT_GE(lazy::counters().by_bound - before, 5);
  lazy::set_max_bytes(int64_t{4} << 30);
  expect_same(b, full({64, 128}, 501.0));
}

TEST(Lazy, AnErrorInARegionNamesTheCall) {
  const Tensor x = ones({4}, on_lazy(kLong)), zero = zeros({4}, on_lazy(kLong));
  const Tensor y = floor_divide(x + 1, zero);
  const std::string says = message_of([&] { lazy::sync({y}, lazy::kWait); });
  EXPECT_NE(says.find("floor_divide"), std::string::npos) << says;
  lazy::clear_plans();
}

TEST(Lazy, DropoutNeedsNoSync) {
  const Tensor x = ones({8}, on_lazy());
  lazy::sync(lazy::kWait);
  lazy::set_strict(true);
  Tensor r = empty({8}, on_lazy());
  const auto version = r._version();
  r.normal_();
  const Tensor y = dropout(x + 1, 0.5, true) * r;
  lazy::set_strict(false);
  EXPECT_EQ(r._version() - version, 1);
  EXPECT_EQ(y.to(kCPU).numel(), 8);
}

TEST(Lazy, MemoryThatRunsOutLosesNothing) {
  const Tensor x = sample({1000}).to(lazy_device());
  const Tensor small = x.exp();
  const Tensor big = cumsum(small.expand({5000, 1000}), 0);
  const Tensor after = big.sum();
  set_memory_limit(memory_stats().allocated + (4 << 20));
  EXPECT_THROW(lazy::sync({after}, lazy::kWait), OutOfMemoryError);
  set_memory_limit(0);
  expect_same(small, sample({1000}).exp());
  const Tensor want = cumsum(sample({1000}).exp().expand({5000, 1000}), 0);
  EXPECT_TRUE(allclose(after.to(kCPU), want.sum(), 1e-3));
}

TEST(Lazy, MemoryIsUsedAgain) {
  Tensor x = sample({1000}).to(lazy_device()).clone();
  lazy::sync(lazy::kWait);
  const int64_t before = lazy::counters().donated;
  x.mul_(2);
  lazy::sync(lazy::kWait);
  EXPECT_EQ(lazy::counters().donated - before, 4000);
  expect_same(x, sample({1000}) * 2);
}

TEST(Lazy, AGraphThatGrowsTooLargeRunsByItself) {
  lazy::set_max_calls(50);
  Tensor x = sample({4}).to(lazy_device());
  const int64_t before = lazy::counters().by_bound;
  for (int i = 0; i < 200; ++i) x = x + 1;
  EXPECT_GE(lazy::counters().by_bound - before, 2);
  lazy::set_max_calls(20000);
  expect_same(x, sample({4}) + 200);
}

TEST(Lazy, DeepGraphsRunAndAreDropped) {
  Tensor x = sample({2}).to(lazy_device());
  for (int i = 0; i < 15000; ++i) x = x + 1;
  x = Tensor();
  Tensor y = sample({2}).to(lazy_device());
  for (int i = 0; i < 15000; ++i) y = y * 1;
  expect_same(y, sample({2}));
}

TEST(Lazy, PicturesShowCallsAndRegions) {
  const Tensor x = sample({3, 3}).to(lazy_device());
  const Tensor y = mm(x.exp() + 1, x);
  const std::string text = lazy::graph_text({y});
  EXPECT_NE(text.find("%2: float32[3, 3] = aten::mm(%1, data0)"),
            std::string::npos)
      << text;
  const std::string dot = lazy::graph_dot({y});
  EXPECT_NE(dot.find("subgraph cluster"), std::string::npos) << dot;
}

TEST(Lazy, ADtypeSeenAsAnotherAndEmptyTensors) {
  Tensor x = sample({4}).to(lazy_device()).clone();
  Tensor bits = x.view(kInt);
  bits.zero_();
  expect_same(x, zeros({4}));
  const Tensor none = empty({0, 3}, on_lazy());
  EXPECT_EQ((none + 1).sum({0}).to(kCPU).numel(), 3);
  expect_same((none + 1).sum({0}), zeros({3}));
}

}  // namespace
}  // namespace sy
