#include <gtest/gtest.h>
#include <signal.h>
#include <sy/compile.h>
#include <sy/lazy.h>
#include <sy/nn.h>
#include <sy/sy.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

// Children of fork compute, whatever the parent did and does. Varied: the
// operator, its threads in the parent, what another thread runs meanwhile, how
// early it is when the process forks. Never varied: the child's thread is the
// one that has forked, and ends by _exit.

namespace sy {

namespace {

// The status of a process when it has ended, killed after some seconds: it may
// hang before its own alarm is set.
int status_within(pid_t child, int seconds) {
  constexpr int kTriesPerSecond = 200;
  for (int i = 0; i < seconds * kTriesPerSecond; ++i) {
    int status = -1;
    const pid_t got = waitpid(child, &status, WNOHANG);
    if (got == child) return status;
    if (got < 0) return -1;
    usleep(1'000'000 / kTriesPerSecond);
  }
  std::fprintf(stderr, "a child hangs\n");
  kill(child, SIGKILL);
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

// The status of a process that runs f.
int status_of(int seconds, const std::function<bool()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(static_cast<unsigned>(seconds));
    bool right = false;
    try {
      right = f();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "in the child: %s\n", e.what());
    }
    _exit(right ? 0 : 1);
  }
  return status_within(child, seconds + 2);
}
constexpr int kParent = 100, kChild = 20;  // seconds

int status_of_parent(const std::function<bool()>& f) {
  return status_of(kParent, f);
}
int status_of_child(const std::function<bool()>& f) {
  return status_of(kChild, f);
}

struct Case {
  std::string name;
  std::function<Tensor()> run;
};

// A convolution's gradients, too: these are other primitives of oneDNN.
Tensor convolution_gradient() {
  const Tensor x = ones({2, 3, 40, 40}).requires_grad_();
  const Tensor w = ones({8, 3, 3, 3}).requires_grad_();
  conv2d(x, w).sum().backward();
  return w.grad();
}

const std::vector<Case>& cases() {
  static const auto* const all = new std::vector<Case>{
      {"add", [] { return ones({2000000}).add_(1); }},
      {"sort", [] { return std::get<0>(sort(arange(65536).neg())); }},
      {"matmul",
       [] {
         return matmul(ones({256, 256}), ones({256, 256}));
       }},
      {"matmul double",
       [] {
         return matmul(ones({512, 512}, kDouble), ones({512, 512}, kDouble));
       }},
      {"bfloat16",
       [] {
         return matmul(ones({256, 256}, kBFloat16),
                       ones({256, 256}, kBFloat16));
       }},
      {"bmm",
       [] {
         return bmm(ones({8, 128, 128}), ones({8, 128, 128}));
       }},
      {"conv2d",
       [] {
         return conv2d(ones({2, 3, 40, 40}), ones({8, 3, 3, 3}));
       }},
      {"conv2d gradient", convolution_gradient},
      {"linear",
       [] {
         return linear(ones({8, 512}), ones({512, 512}));
       }},
      {"_int_mm",
       [] {
         const Tensor a = ones({128, 128}, kChar);
         return _int_mm(a, a);
       }},
      {"inverse", [] { return linalg_inv(eye(200, kDouble).mul(2)); }},
      {"softmax",
       [] {
         return softmax(ones({512, 1024}), 1);
       }},
  };
  return *all;
}

TEST(Fork, TheChildOfAProcessWithThreadsComputes) {
  for (const Case& c : cases()) {
    // A process of its own for each, so that it alone has used its threads.
    EXPECT_EQ(status_of_parent([&] {
                set_num_threads(3);
                const Tensor want = c.run();
                return status_of_child([&] { return equal(c.run(), want); }) ==
                           0 &&
                       equal(c.run(), want);
              }),
              0)
        << c.name;
  }
}

// A region of the program's own, with three threads if it gets them.
int threads_of_a_region() {
  int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
  threads += 1;
  return threads;
}

// The program's own regions would wait for threads that are gone as well.
TEST(Fork, TheParentMayHaveUsedThreadsByItself) {
  const auto computes = [] {
    const Tensor a = ones({256, 256});
    const int threads = threads_of_a_region();
    set_num_threads(3);
    return threads == 1 && matmul(a, a).max().item<float>() == 256;
  };
  EXPECT_EQ(status_of_parent([&] {
              return threads_of_a_region() == 3 &&
                     status_of_child(computes) == 0;
            }),
            0);
}

// Runs f on other threads, over and over, while it lives.
class Busy {
 public:
  Busy(int threads, std::function<void(int)> f) {
    for (int t = 0; t < threads; ++t) {
      threads_.emplace_back([this, f, t] {
        while (!stop_) {
          f(t);
          ++rounds_;
        }
      });
    }
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
  }
  void wait_for(int rounds) const {
    while (rounds_ < rounds) std::this_thread::yield();
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  std::vector<std::thread> threads_;
};

// Forks while others run f, and expects f's results of the children.
void fork_beside(int forks, const std::function<bool(int)>& f) {
  EXPECT_EQ(status_of_parent([&] {
              set_num_threads(2);
              std::atomic<bool> right{true};
              const Busy busy(2, [&](int t) { right = right && f(t); });
              for (int i = 0; i < forks; ++i) {
                if (i == 4) busy.wait_for(4);  // the first come very early
                if (status_of_child([&] { return f(7) && f(0); }) != 0)
                  return false;
              }
              return right.load();
            }),
            0);
}

TEST(Fork, BesideThreadsThatComputeEverything) {
  fork_beside(24, [](int t) {
    const Tensor a = full({160, 160}, static_cast<float>(t + 1));
    const Tensor w = ones({4, 3, 3, 3}).requires_grad_();
    conv2d(ones({1, 3, 24 + t, 24}), w).sum().backward();
    return matmul(a, a)[3][5].item<float>() ==
               160.0f * static_cast<float>((t + 1) * (t + 1)) &&
           w.grad()[0][0][0][0].item<float>() ==
               22.0f * static_cast<float>(22 + t);
  });
}

TEST(Fork, BesideThreadsThatDecompose) {
  fork_beside(12, [](int t) {
    const Tensor a = eye(150 + t, kDouble).mul(2);
    const Tensor batch = eye(12, kDouble).repeat({20, 1, 1});
    return linalg_inv(a)[3][3].item<double>() == 0.5 &&
           std::get<1>(linalg_svd(batch)).sum().item<double>() == 240;
  });
}

TEST(Fork, BesideThreadsThatDraw) {
  fork_beside(12, [](int t) {
    const Tensor x = rand({1000 + t});
    return x.min().item<float>() >= 0 && x.max().item<float>() < 1 &&
           randperm(500).sum().item<int64_t>() == 499 * 250;
  });
}

// The first calls of a process: operators are looked up, libraries are loaded.
TEST(Fork, BesideThreadsThatBegin) {
  constexpr int kForks = 30;
  const auto f = [](int t) {
    const Tensor x = ones({160 + t, 160 + t}).requires_grad_();
    const Tensor y = x.matmul(x).relu();
    (y * 2).sum().backward();
    auto own = compile([](const Tensor& z) { return (z + 1).tanh().sum(); });
    const Tensor half = full({64 + t}, 0.5f);
    return x.grad()[1][2].item<float>() == 4 * static_cast<float>(160 + t) &&
           allclose(own(half), (half + 1).tanh().sum());
  };
  for (int i = 0; i < kForks; ++i) {
    EXPECT_EQ(status_of_parent([&] {
                set_num_threads(2);
                const Busy busy(2, [&](int t) {
                  if (!f(t)) std::abort();
                });
                usleep(static_cast<unsigned>(300 * i));
                return status_of_child([&] { return f(7) && f(0); }) == 0;
              }),
              0)
        << i;
  }
}

TEST(Fork, BesideThreadsThatReplay) {
  // Shared by the threads and the children.
  auto shared = compile(
      [](const Tensor& x) { return (x.matmul(x) * 2 + 1).relu().sum(); });
  fork_beside(16, [shared](int t) mutable {
    const Tensor x = full({32 + t, 32 + t}, 1.0f);
    const auto n = static_cast<float>(32 + t);
    auto own = compile([](const Tensor& y) { return (y + 1).tanh().sum(); });
    const Tensor half = full({64 + t}, 0.5f);
    return shared(x).item<float>() == n * n * (2 * n + 1) &&
           allclose(own(half), (half + 1).tanh().sum());
  });
}

TEST(Fork, BesideThreadsThatRecord) {
  load_library("lazy").keep();
  fork_beside(16, [](int t) {
    const Device lazy("lazy");
    const auto n = static_cast<float>(200 + t);
    Tensor x = ones({200 + t, 200 + t}).to(lazy);
    for (int i = 0; i < 4; ++i) x = (x.matmul(x) / n + 1) / 2;
    const Tensor y = (x * 3).relu().sum();
    return y.cpu().item<float>() == 3 * n * n;
  });
}

}  // namespace

}  // namespace sy
