#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "test/backends/lazy/on_lazy.h"

namespace sy {
namespace {

template <class F>
void in_threads(int n, F&& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

TEST(LazyThreads, EightRecordAndSync) {
  const Tensor shared = arange(64, TensorOptions(kFloat)).to(lazy_device());
  const Tensor base = shared.exp().sqrt();  // computed by whoever is first
  std::atomic<int> wrong{0};
  const Tensor want = shared.to(kCPU).exp().sqrt();
  in_threads(8, [&](int t) {
    for (int i = 0; i < 100; ++i) {
      Tensor x = base * (t + 1) + i;
      Tensor own = x.clone();
      own.add_(1);
      if (i % 3 == 0) lazy::sync();
      if (i % 7 == 0) lazy::sync({x});
      if (!allclose(own.to(kCPU), want * (t + 1) + i + 1, 1e-4, 1e-4)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(LazyThreads, ManyReadOneValue) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = full({100}, round).to(lazy_device());
    const Tensor y = (x + 1).tanh() * 2;
    std::atomic<int> wrong{0};
    in_threads(4, [&](int) {
      if (!allclose(y.to(kCPU), (x.to(kCPU) + 1).tanh() * 2)) ++wrong;
    });
    EXPECT_EQ(wrong, 0);
  }
}

TEST(LazyThreads, StepsAreRecordedWhileEarlierOnesRun) {
  Tensor w = zeros({200, 200}).to(lazy_device());
  const Tensor x = eye(200).to(lazy_device());
  lazy::sync(lazy::kWait);
  const int64_t before = lazy::counters().misses;
  for (int i = 0; i < 50; ++i) {
    w.add_(mm(x, x) * 0.5);
    lazy::sync();
  }
  EXPECT_LE(lazy::counters().misses - before, 1) << lazy::explain();
  EXPECT_TRUE(allclose(w.to(kCPU), eye(200) * 25.0));
}

TEST(LazyThreads, AnErrorThatNobodyWaitedForReachesTheNextSync) {
  const Tensor x = rand({4, 4}).to(lazy_device());
  const Tensor at = full({4, 1}, 9, TensorOptions(kLong).device(lazy_device()));
  Tensor bad = gather(x, 1, at);
  lazy::sync();
  std::string says;
  for (int i = 0; i < 10000 && says.empty(); ++i) {
    try {
      lazy::sync();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } catch (const Error& e) {
      says = e.what();
    }
  }
  EXPECT_NE(says.find("gather"), std::string::npos) << says;
  EXPECT_THROW(bad.to(kCPU), Error);
  bad = Tensor();
  try {
    lazy::sync(lazy::kWait);
  } catch (const Error&) {
  }
  lazy::sync(lazy::kWait);
  EXPECT_TRUE(allclose((x + 1).to(kCPU), x.to(kCPU) + 1));
}

TEST(LazyThreads, CallsDieWhereTheirTensorsDo) {
  const Tensor x = rand({16}).to(lazy_device());
  for (int round = 0; round < 20; ++round) {
    std::vector<Tensor> chain(200, x);
    for (size_t i = 1; i < chain.size(); ++i) chain[i] = chain[i - 1] + 1;
    const Tensor last = chain.back() * 2;
    std::thread dropping([&] {
      for (Tensor& t : chain) t.reset();
    });
    Tensor other = x;
    for (int i = 0; i < 200; ++i) other = other + 1;
    lazy::sync(lazy::kWait);
    dropping.join();
    ASSERT_TRUE(allclose(last.to(kCPU), (x.to(kCPU) + 199) * 2));
  }
}

TEST(LazyThreads, AForkedChildComputes) {
  const Tensor x = ones({64}).to(lazy_device());
  const Tensor y = x + 1;
  lazy::sync();
  const pid_t child = fork();
  if (child == 0) {
    const Tensor z = y * 2;
    lazy::sync();
    _exit(allclose(z.to(kCPU), ones({64}) * 4.0) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(LazyThreads, OneFailsTheOthersGoOn) {
  const Tensor x = rand({4, 4}).to(lazy_device());
  const Tensor at = full({4, 1}, 9, TensorOptions(kLong).device(lazy_device()));
  std::atomic<int> failed{0}, wrong{0};
  in_threads(4, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      if (t == 0) {
        try {
          gather(x + i, 1, at).to(kCPU);
        } catch (const Error&) {
          ++failed;
        }
      } else if (!allclose((x + i).to(kCPU), x.to(kCPU) + i)) {
        ++wrong;
      }
    }
  });
  EXPECT_EQ(failed, 50);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sy
