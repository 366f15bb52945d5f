#include <string>

#include "test/backends/lazy/on_lazy.h"

// Plans are found by structure, and a miss says what differs.

namespace sy {
namespace {

Tensor data(IntArrayRef sizes) { return rand(sizes).to(lazy_device()); }
int64_t planned() { return lazy::counters().misses; }

TEST(LazyCache, NumbersThatChangeNeedNoPlan) {
  const Tensor x = data({32}), c = x.to(kCPU);
  lazy::sync({x + 0.5}, lazy::kWait);
  const int64_t before = planned();
  for (int i = 1; i <= 1000; ++i) {
    const Tensor y = x * (1.0 / i) + i;
    lazy::sync({y}, lazy::kWait);
    if (i % 250 == 0) {
      EXPECT_TRUE(allclose(y.to(kCPU), c * (1.0 / i) + i));
    }
  }
  EXPECT_LE(planned() - before, 2);
}

TEST(LazyCache, BatchSizesTakeFewPlans) {
  const Tensor w = data({64, 128}), v = data({128, 10});
  lazy::sync(lazy::kWait);
  const int64_t before = planned();
  for (int64_t batch = 1; batch <= 64; ++batch) {
    const Tensor x = data({batch, 64});
    const Tensor y = softmax(mm(mm(x, w).relu() * 0.1, v), 1);
    const Tensor want =
        softmax(mm(mm(x.to(kCPU), w.to(kCPU)).relu() * 0.1, v.to(kCPU)), 1);
    EXPECT_TRUE(allclose(y.to(kCPU), want, 1e-4, 1e-5)) << batch;
  }
  EXPECT_LE(planned() - before, 7);
}

TEST(LazyCache, AMissNamesTheFirstDifference) {
  lazy::clear_plans();
  const Tensor x = data({8, 4});
  lazy::sync(lazy::kWait);
  lazy::sync({(x + 1).exp()}, lazy::kWait);
  EXPECT_NE(lazy::explain().find("the first one"), std::string::npos)
      << lazy::explain();
  lazy::sync({(x + 1).tanh()}, lazy::kWait);
  EXPECT_NE(lazy::explain().find("call 1 (aten::tanh) differs first: the "
                                 "operator, aten::exp there"),
            std::string::npos)
      << lazy::explain();
  const Tensor square = data({4, 4});
  lazy::sync(lazy::kWait);
  lazy::sync({(square + 1).exp()}, lazy::kWait);
  EXPECT_NE(lazy::explain().find("the shape"), std::string::npos)
      << lazy::explain();
  const Tensor exact = data({8, 4}).to(kDouble);
  lazy::sync(lazy::kWait);
  lazy::sync({(exact + 1).exp()}, lazy::kWait);
  EXPECT_NE(lazy::explain().find("the dtype"), std::string::npos)
      << lazy::explain();
}

TEST(LazyCache, EqualHashesChooseNoWrongPlan) {
  lazy::detail::set("collide", 1);
  const Tensor x = data({8}), c = x.to(kCPU);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(allclose((x + 1).exp().to(kCPU), (c + 1).exp()));
    EXPECT_TRUE(allclose((x + 1).tanh().to(kCPU), (c + 1).tanh()));
    EXPECT_TRUE(allclose((x - 1).exp().to(kCPU), (c - 1).exp()));
  }
  lazy::detail::set("collide", 0);
}

TEST(LazyCache, TheLeastRecentlyUsedGoesFirst) {
  lazy::clear_plans();
  lazy::set_max_plans(2);
  const Tensor x = data({8});
  const auto a = [&] { lazy::sync({x + 1}, lazy::kWait); };
  const auto b = [&] { lazy::sync({x.exp()}, lazy::kWait); };
  const auto c = [&] { lazy::sync({x.tanh()}, lazy::kWait); };
  a();
  b();
  a();
  c();  // takes the place of b
  const int64_t before = planned();
  a();
  EXPECT_EQ(planned(), before);
  b();
  EXPECT_EQ(planned(), before + 1);
  lazy::set_max_plans(256);
}

TEST(LazyCache, ChangingShapesKeepMemoryFlat) {
  lazy::set_max_plans(16);
  const auto steps = [](int n) {
    for (int i = 0; i < n; ++i) {
      const Tensor x = data({1 + i % 37, 1 + i % 11});
      lazy::sync({((x + 1) * x).sum({0})}, lazy::kWait);
    }
  };
  steps(2000);
  const auto used = [] { return memory_stats().allocated; };
  const auto before = used();
  steps(8000);
  EXPECT_LE(used(), before + (1 << 16));
  lazy::set_max_plans(256);
}

}  // namespace
}  // namespace sy
