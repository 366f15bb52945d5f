#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

// Compiled callables keep nothing of the arguments that they were captured
// with. The tests vary gradients, writes and views; all on the CPU.

namespace sy {

namespace {

constexpr int64_t kSide = 300;  // 360 kB of floats

int64_t in_use() { return static_cast<int64_t>(memory_stats().allocated); }

// Calls for several sizes, then for none: what is still in use.
template <class F>
void expect_nothing_kept(F body) {
  auto f = compile(body);
  f(ones({2, 2}));  // what a first call allocates for good
  const int64_t before = in_use();
  for (int64_t n = kSide; n < kSide + 6; ++n) f(ones({n, n}));
  EXPECT_LE(in_use() - before, kSide * kSide / 2);
}

TEST(CompileMemory, ArgumentsAreLetGo) {
  expect_nothing_kept([](const Tensor& x) { return x.sum(); });
}

TEST(CompileMemory, WrittenArgumentsAndViews) {
  expect_nothing_kept([](Tensor x) {
    x.slice(0, 0, 1).mul_(2);
    x.t().add_(1);
    return x.slice(0, 0, 2).sum();
  });
}

TEST(CompileMemory, AfterBackwardGraphs) {
  auto f = compile([](const Tensor& x) { return (x * 2).tanh().sum(); });
  const auto step = [&](int64_t n) {
    Tensor x = ones({n, n});
    x.requires_grad_();
    f(x).backward();
  };
  step(2);
  const int64_t before = in_use();
  for (int64_t n = kSide; n < kSide + 6; ++n) step(n);
  EXPECT_LE(in_use() - before, kSide * kSide / 2);
}

TEST(CompileMemory, AfterABackwardPassInside) {
  expect_nothing_kept([](const Tensor& x) {
    Tensor leaf = x.detach().clone().requires_grad_();
    (leaf * x).sum().backward();
    return leaf.grad().sum();
  });
}

}  // namespace

}  // namespace sy
