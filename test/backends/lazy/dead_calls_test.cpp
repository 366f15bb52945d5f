#include "test/backends/lazy/on_lazy.h"

// Calls that nobody wants any more keep no memory.

namespace sy {
namespace {

int64_t allocated() { return memory_stats().allocated; }

TEST(LazyDeadCalls, AGraphThatFailedIsFreedOnceItsTensorsAreGone) {
  lazy_device();
  lazy::sync(lazy::kWait);
  const int64_t before = allocated();
  {
    const Tensor zero = zeros({64}, on_lazy(kLong));
    Tensor y = floor_divide(ones({64}, on_lazy(kLong)).cumsum(0), zero);
    for (int i = 0; i < 4; ++i) y = cumsum(y, 0);
    EXPECT_THROW(lazy::sync({y}, lazy::kWait), Error);
    EXPECT_THROW(y.to(kCPU), Error) << "it stays recorded";
  }
  lazy::sync(lazy::kWait);
  EXPECT_EQ(allocated(), before);
}

TEST(LazyDeadCalls, TheMemoryThatACallReadsGoesWithIt) {
  lazy_device();
  const int64_t before = allocated();
  {
    const Tensor x = sample({1000}).to(lazy_device());
    const Tensor y = (x.exp() * x).cumsum(0);
  }
  EXPECT_EQ(allocated(), before) << "without a sync";
}

TEST(LazyDeadCalls, APlanDoesNotKnowOfThem) {
  const Tensor x = sample({100}).to(lazy_device());
  const auto program = [&](bool with_dead_call) {
    const Tensor t = x.tanh().cumsum(0);
    if (with_dead_call) const Tensor dead = t + 1;
    return t.exp();
  };
  program(false).to(kCPU);
  const int64_t misses = lazy::counters().misses;
  program(true).to(kCPU);
  EXPECT_EQ(lazy::counters().misses, misses) << lazy::explain();
}

}  // namespace
}  // namespace sy
