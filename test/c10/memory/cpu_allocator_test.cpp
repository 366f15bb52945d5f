#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "c10/memory/allocator.h"
#include "c10/memory/cpu_memory.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

namespace sy {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class CpuAllocator : public testing::Test {
 protected:
  void SetUp() override {
    a.trim();
    limit = a.stats().limit;
    a.reset_peak();
  }
  void TearDown() override { a.set_limit(limit); }

  Allocator& a = cpu_allocator();
  int64_t limit = 0;
};

TEST_F(CpuAllocator, GivesAlignedMemoryOfEverySize) {
  EXPECT_EQ(a.allocate(0), nullptr);
  a.deallocate(nullptr, 0);
  const MemoryStats before = a.stats();
  for (size_t bytes = 1; bytes < 9 * kMiB; bytes += bytes / 7 + 1) {
    void* p = a.allocate(bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u) << bytes;
    std::memset(p, 1, bytes);
    EXPECT_EQ(a.stats().allocated - before.allocated,
              static_cast<int64_t>(bytes));
    a.deallocate(p, bytes);
    EXPECT_EQ(a.stats().allocated, before.allocated);
  }
}

TEST_F(CpuAllocator, KeepsFreedBlocksForSimilarSizes) {
  if (SY_ASAN != 0) GTEST_SKIP() << "nothing is kept";
  for (const size_t bytes : {size_t{5000}, 300 * size_t{1000}, 10 * kMiB}) {
    void* p = a.allocate(bytes);
    const MemoryStats before = a.stats();
    a.deallocate(p, bytes);
    const int64_t kept = a.stats().cached - before.cached;
    EXPECT_GE(kept, static_cast<int64_t>(bytes));
    EXPECT_LE(kept, static_cast<int64_t>(bytes + bytes / 8 + 64));
    EXPECT_EQ(a.allocate(bytes - bytes / 100), p);
    const MemoryStats after = a.stats();
    EXPECT_EQ(after.system_calls, before.system_calls);
    EXPECT_EQ(after.allocations, before.allocations + 1);
    EXPECT_EQ(after.cached, before.cached);
    a.deallocate(p, bytes - bytes / 100);
  }
  a.trim();
  EXPECT_EQ(a.stats().cached, 0);
}

TEST_F(CpuAllocator, WastesAtMostAnEighth) {
  if (SY_ASAN != 0) GTEST_SKIP();
  for (size_t bytes = 1025; bytes < 64 * kMiB; bytes += bytes / 5) {
    a.deallocate(a.allocate(bytes), bytes);
    EXPECT_GE(a.stats().cached, static_cast<int64_t>(bytes));
    EXPECT_LE(a.stats().cached, static_cast<int64_t>(bytes + bytes / 8));
    a.trim();
  }
}

TEST_F(CpuAllocator, PeakIsTheHighestSumSinceReset) {
  const int64_t base = a.stats().allocated;
  void* p = a.allocate(3 * kMiB);
  void* q = a.allocate(2 * kMiB);
  a.deallocate(p, 3 * kMiB);
  EXPECT_EQ(a.stats().peak - base, 5 * int64_t{kMiB});
  a.reset_peak();
  EXPECT_EQ(a.stats().peak - base, 2 * int64_t{kMiB});
  a.deallocate(q, 2 * kMiB);
}

TEST_F(CpuAllocator, SmallResultsCountToo) {
  const MemoryStats before = a.stats();
  std::vector<void*> blocks(10000);
  for (void*& b : blocks) b = a.allocate(100);
  const MemoryStats full = a.stats();
  EXPECT_EQ(full.allocated - before.allocated, 1000000);
  EXPECT_EQ(full.allocations - before.allocations, 10000);
  for (void* b : blocks) a.deallocate(b, 100);
  const MemoryStats after = a.stats();
  EXPECT_EQ(after.allocated, before.allocated);
  EXPECT_GE(after.peak - before.allocated, 1000000);
}

TEST_F(CpuAllocator, SmallResultsEnterThePeakWithoutBeingAskedFor) {
  const int64_t base = a.stats().allocated;
  std::vector<void*> blocks(10000);
  for (void*& b : blocks) b = a.allocate(100);
  for (void* b : blocks) a.deallocate(b, 100);
  EXPECT_GE(a.stats().peak - base, 980000);
}

TEST_F(CpuAllocator, LimitIsAnErrorWithNumbers) {
  void* p = a.allocate(kMiB);
  const int64_t used = a.stats().allocated;
  a.set_limit(used + 4000000);
  SY_EXPECT_ERROR(a.allocate(4000001), OutOfMemoryError,
                  str("[cpu] out of memory: asked for 4000001 bytes, {} in "
                      "use, 0 cached, limit {}",
                      used, used + 4000000));
  void* q = a.allocate(4000000);
  SY_EXPECT_ERROR(a.allocate(2000), OutOfMemoryError, "2000");
  EXPECT_EQ(a.stats().allocated, used + 4000000) << "failures count nothing";
  a.deallocate(q, 4000000);
  a.deallocate(a.allocate(4000000), 4000000);
  a.deallocate(p, kMiB);
}

TEST_F(CpuAllocator, LimitHoldsForManySmallResults) {
  const int64_t used = a.stats().allocated;
  a.set_limit(used + int64_t{kMiB});
  std::vector<void*> blocks;
  try {
    for (int i = 0; i < 100000; ++i) blocks.push_back(a.allocate(256));
    ADD_FAILURE() << "no limit";
  } catch (const OutOfMemoryError& e) {
    EXPECT_NE(std::string(e.what()).find("asked for 256 bytes"),
              std::string::npos);
  }
  const int64_t got = a.stats().allocated - used;
  EXPECT_LE(got, static_cast<int64_t>(kMiB + 64 * 1024));
  EXPECT_GE(got, static_cast<int64_t>(kMiB - 64 * 1024));
  for (void* b : blocks) a.deallocate(b, 256);
  void* p = a.allocate(1000 * 1000);
  a.deallocate(p, 1000 * 1000);
}

TEST_F(CpuAllocator, WhatIsKeptCountsNeitherAsUsedNorBeyondTheLimit) {
  if (SY_ASAN != 0) GTEST_SKIP();
  const int64_t used = a.stats().allocated;
  a.set_limit(used + 16 * int64_t{kMiB});
  a.deallocate(a.allocate(12 * kMiB), 12 * kMiB);
  EXPECT_GE(a.stats().cached, 12 * int64_t{kMiB});
  void* p = a.allocate(10 * kMiB);
  const MemoryStats s = a.stats();
  EXPECT_LE(s.allocated + s.cached, s.limit) << "kept blocks made room";
  a.deallocate(p, 10 * kMiB);
  a.set_limit(used + int64_t{kMiB});
  EXPECT_LE(a.stats().cached, int64_t{kMiB});
}

TEST_F(CpuAllocator, AbsurdSizesAreErrorsAtOnce) {
  EXPECT_GT(limit, 0) << "the machine's memory is the default";
  for (const size_t bytes : {size_t{1} << 46, (size_t{1} << 47) + 1,
                             size_t{1} << 62, ~size_t{0}, ~size_t{0} - 100}) {
    SY_EXPECT_ERROR(a.allocate(bytes), OutOfMemoryError,
                    str("asked for {} bytes", bytes));
  }
  a.set_limit(0);
  SY_EXPECT_ERROR(a.allocate(~size_t{0}), OutOfMemoryError, "limit none");
  SY_EXPECT_ERROR(a.allocate(size_t{1} << 47), OutOfMemoryError,
                  "asked for 140737488355328 bytes");
}

TEST_F(CpuAllocator, OldestBlocksGoFirstWhenTooMuchIsKept) {
  if (SY_ASAN != 0) GTEST_SKIP();
  if (!with_environment("SWITCHYARD_CACHE_LIMIT", "8M")) return;
  void* old = a.allocate(3 * kMiB);
  void* young = a.allocate(4 * kMiB);
  void* third = a.allocate(2 * kMiB);
  void* huge = a.allocate(9 * kMiB);
  a.deallocate(old, 3 * kMiB);
  a.deallocate(young, 4 * kMiB);
  a.deallocate(third, 2 * kMiB);
  a.deallocate(huge, 9 * kMiB);
  EXPECT_EQ(a.stats().cached, 6 * int64_t{kMiB});
  EXPECT_EQ(a.allocate(4 * kMiB), young);
  EXPECT_EQ(a.allocate(2 * kMiB), third);
  EXPECT_EQ(a.stats().cached, 0);
}

TEST_F(CpuAllocator, TakesItsLimitFromTheEnvironment) {
  if (!with_environment("SWITCHYARD_MEMORY_LIMIT", "64M")) return;
  EXPECT_EQ(limit, 64 * int64_t{kMiB});
  SY_EXPECT_ERROR(a.allocate(65 * kMiB), OutOfMemoryError, "limit 67108864");
}

TEST_F(CpuAllocator, IgnoresAnUnreadableLimit) {
  if (!with_environment("SWITCHYARD_MEMORY_LIMIT", "lots")) return;
  EXPECT_GT(limit, 64 * int64_t{kMiB});
}

TEST_F(CpuAllocator, ASystemWithoutMemoryIsAnErrorToo) {
  if (SY_ASAN != 0) GTEST_SKIP() << "needs the address space";
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "needs the address space";
#endif
  const pid_t child = fork();
  if (child == 0) {
    const rlimit space{size_t{512} << 20, size_t{512} << 20};
    setrlimit(RLIMIT_AS, &space);
    int failures = 0;
    for (const size_t bytes : {size_t{600} << 20, size_t{40} << 20}) {
      try {
        for (int i = 0; i < 100; ++i) a.allocate(bytes);
      } catch (const OutOfMemoryError& e) {
        failures += std::strstr(e.what(), "the system has no more") != nullptr;
      }
    }
    _exit(failures == 2 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(CpuAllocator, StatsHoldUnderThreads) {
  const MemoryStats before = a.stats();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      uint32_t random = static_cast<uint32_t>(t);
      std::vector<std::pair<void*, size_t>> held;
      for (int i = 0; i < 5000; ++i) {
        random = random * 1664525 + 1013904223;
        const size_t bytes = (random >> 12) % 5000 + 1;
        held.emplace_back(a.allocate(bytes), bytes);
        static_cast<char*>(held.back().first)[bytes - 1] = 1;
        if (held.size() > 20) {
          std::swap(held[random >> 28], held.back());
          a.deallocate(held.back().first, held.back().second);
          held.pop_back();
        }
      }
      for (auto [p, n] : held) a.deallocate(p, n);
    });
  }
  for (auto& t : threads) t.join();
  const MemoryStats after = a.stats();
  EXPECT_EQ(after.allocated, before.allocated);
  EXPECT_EQ(after.allocations - before.allocations, 4 * 5000);
  EXPECT_GT(after.peak, before.allocated);
}

TEST_F(CpuAllocator, AForkedChildMayAllocate) {
  std::atomic<bool> end{false};
  std::thread busy([&] {
    while (!end) a.deallocate(a.allocate(10000), 10000);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      a.deallocate(a.allocate(10000), 10000);
      a.deallocate(a.allocate(100), 100);
      _exit(a.stats().limit > 0 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  end = true;
  busy.join();
}

std::atomic<int64_t> reclaimed{0};

TEST_F(CpuAllocator, AsksForWhatCanBeMadeAgainBeforeItFails) {
  static void* kept = nullptr;
  add_reclaimer([]() noexcept {
    ++reclaimed;
    cpu_allocator().deallocate(std::exchange(kept, nullptr), 8 * kMiB);
  });
  kept = a.allocate(8 * kMiB);
  a.set_limit(a.stats().allocated + int64_t{4 * kMiB});
  void* const p = a.allocate(6 * kMiB);
  EXPECT_EQ(reclaimed, 1);
  SY_EXPECT_ERROR(a.allocate(20 * kMiB), OutOfMemoryError, "in use");
  EXPECT_EQ(reclaimed, 2);
  a.deallocate(p, 6 * kMiB);
  a.trim();
  EXPECT_EQ(reclaimed, 3);
}

TEST(MemoryFunctions, ReachTheAllocatorOfTheDevice) {
  EXPECT_EQ(memory_stats().limit, cpu_allocator().stats().limit);
  EXPECT_EQ(memory_stats(Device("meta")).limit, 0);
  trim_memory(Device("meta"));
  SY_EXPECT_ERROR(set_memory_limit(-1), ValueError,
                  "[set_memory_limit] bytes: expected non-negative, got -1");
  SY_EXPECT_ERROR(memory_stats(Device(device_type_of(30))), ValueError,
                  "no backend has the number 30");
  const int64_t limit = memory_stats().limit;
  set_memory_limit(12345678);
  EXPECT_EQ(memory_stats().limit, 12345678);
  set_memory_limit(limit);
}

TEST(MemoryLimit, IsReadFromText) {
  EXPECT_EQ(detail::parse_bytes("4294967296"), 4294967296);
  EXPECT_EQ(detail::parse_bytes("4G"), 4294967296);
  EXPECT_EQ(detail::parse_bytes("512M"), 512 << 20);
  EXPECT_EQ(detail::parse_bytes("64k"), 65536);
  EXPECT_EQ(detail::parse_bytes("1T"), int64_t{1} << 40);
  for (const char* text : {"", "G", "-1", "4GB", "4 G", "1.5G", "x",
                           "9999999999999G", "99999999999999999999"}) {
    EXPECT_EQ(detail::parse_bytes(text), -1) << text;
  }
}

}  // namespace
}  // namespace sy
