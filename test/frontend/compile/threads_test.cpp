#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

#include <thread>
#include <vector>

// Threads that call one compiled callable.

namespace sy {

namespace {

TEST(CompiledThreads, CallAtOnce) {
  const Tensor w = arange(64, TensorOptions(kFloat)).view({8, 8}) * 0.01;
  auto f = compile([&](const Tensor& x) {
    const Tensor h = x.matmul(w).relu();
    return (h * 2 + 1).sum(-1);
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const Tensor x = full({1 + (t + i) % 4, 8}, float(t + i));
        const Tensor want = (x.matmul(w).relu() * 2 + 1).sum(-1);
        if (!allclose(f(x), want)) ADD_FAILURE() << t << " " << i;
        if (i % 20 == 7 && t == 0) f.reset();
        if (f.explain().empty()) ADD_FAILURE();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(f.counters().calls, 480);
  EXPECT_GT(f.counters().replays, 300);
}

TEST(CompiledThreads, BackwardAtOnce) {
  auto f = compile(
      [](const Tensor& x, const Tensor& w) { return (x * w).tanh().sum(); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Tensor w = full({16}, 0.1f * float(t)).requires_grad_();
      for (int i = 0; i < 40; ++i) {
        const Tensor x = full({16}, float(i));
        const Tensor got = autograd::grad({f(x, w)}, {w})[0];
        const Tensor want = autograd::grad({(x * w).tanh().sum()}, {w})[0];
        if (!allclose(got, want, 1e-5, 1e-6)) ADD_FAILURE() << t << " " << i;
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace

}  // namespace sy
