#include "c10/process/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "test/c10/expect_error.h"

namespace sy {
namespace {

class Parallel : public testing::Test {
 protected:
  void SetUp() override { set_num_threads(4); }
};

TEST_F(Parallel, EveryIndexIsVisitedOnce) {
  for (const int64_t n : {0, 1, 2, 3, 7, 100, 10000}) {
    for (const int64_t grain : {-1, 0, 1, 3, 99, 100000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
      parallel_for(5, 5 + n, grain, [&](int64_t b, int64_t e) {
        ASSERT_LT(b, e);
        for (; b < e; ++b) ++seen[static_cast<size_t>(b - 5)];
      });
      for (const auto& s : seen) ASSERT_EQ(s, 1) << n << ' ' << grain;
    }
  }
  parallel_for(3, 2, 1, [](int64_t, int64_t) { FAIL(); });
}

TEST_F(Parallel, RangesReachTheEndsOfInt64) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> total{0};
  parallel_for(1, kMax, 1, [&](int64_t b, int64_t e) { total += e - b; });
  EXPECT_EQ(total, kMax - 1);
}

TEST_F(Parallel, UsesSeveralThreads) {
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  std::atomic<int> numbers{0};
  parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    EXPECT_TRUE(in_parallel_region());
    numbers += 1 << get_thread_num();
    ++inside;
    for (int i = 0; i < 10000 && !met; ++i) {
      if (inside == 2) met = true;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  EXPECT_TRUE(met) << "both ranges were under way at once";
  EXPECT_EQ(numbers, 3);
  EXPECT_FALSE(in_parallel_region());
  EXPECT_EQ(get_thread_num(), 0);
}

TEST_F(Parallel, SmallRangesStayOnTheCaller) {
  const auto caller = std::this_thread::get_id();
  parallel_for(0, 100, 100, [&](int64_t b, int64_t e) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(e - b, 100);
    EXPECT_FALSE(in_parallel_region());
  });
  set_num_threads(1);
  parallel_for(0, 100, 1, [&](int64_t b, int64_t e) { EXPECT_EQ(e - b, 100); });
}

TEST_F(Parallel, NoRangeIsSmallerThanTheGrainAllows) {
  std::atomic<int> ranges{0};
  parallel_for(0, 100, 60, [&](int64_t, int64_t) { ++ranges; });
  EXPECT_EQ(ranges, 2);
}

TEST_F(Parallel, NestedCallsRunInPlace) {
  std::atomic<int> total{0};
  parallel_for(0, 4, 1, [&](int64_t b, int64_t e) {
    const auto outer = std::this_thread::get_id();
    for (; b < e; ++b) {
      parallel_for(0, 100, 1, [&](int64_t x, int64_t y) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        total += static_cast<int>(y - x);
      });
    }
  });
  EXPECT_EQ(total, 400);
}

TEST_F(Parallel, ExceptionsReachTheCaller) {
  for (int64_t bad = 0; bad < 4; ++bad) {
    SY_EXPECT_ERROR(parallel_for(0, 4, 1,
                                 [bad](int64_t b, int64_t e) {
                                   if (b <= bad && bad < e) {
                                     fail(ErrorKind::Value, "bad {}", bad);
                                   }
                                 }),
                    ValueError, str("bad {}", bad));
  }
  std::atomic<int> total{0};
  parallel_for(0, 4, 1, [&](int64_t b, int64_t e) { total += int(e - b); });
  EXPECT_EQ(total, 4) << "usable afterwards";
}

TEST_F(Parallel, SeveralThreadsMayCallAtOnce) {
  std::atomic<int64_t> total{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&total] {
      for (int i = 0; i < 50; ++i) {
        parallel_for(0, 1000, 10,
                     [&](int64_t b, int64_t e) { total += e - b; });
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(total, 3 * 50 * 1000);
}

TEST_F(Parallel, RefusesSillyThreadCounts) {
  SY_EXPECT_ERROR(set_num_threads(0), ValueError,
                  "[set_num_threads] n: expected 1 to 1024, got 0");
  SY_EXPECT_ERROR(set_num_threads(100000), ValueError, "got 100000");
  EXPECT_EQ(get_num_threads(), 4);
}

TEST_F(Parallel, AForkedChildRunsSerially) {
  parallel_for(0, 4, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int ranges = 0;
    parallel_for(0, 1000, 1, [&](int64_t, int64_t) { ++ranges; });
    _exit(ranges == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sy
