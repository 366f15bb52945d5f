#include "c10/memory/pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "c10/memory/pool_fast.h"

namespace sy {
namespace {

TEST(Pool, BlocksAreAlignedDistinctAndWritable) {
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  for (size_t bytes = 1; bytes <= kPoolMaxBytes; bytes += 13) {
    for (int i = 0; i < 20; ++i) {
      auto* p = static_cast<unsigned char*>(pool_allocate(bytes));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
      std::memset(p, static_cast<int>(blocks.size() % 251), bytes);
      blocks.emplace_back(p, bytes);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (size_t k = 0; k < blocks[i].second; ++k) {
      ASSERT_EQ(blocks[i].first[k], i % 251);
    }
    pool_free(blocks[i].first, blocks[i].second);
  }
}

TEST(Pool, TakesEdgeSizes) {
  for (const size_t bytes : {size_t{0}, size_t{1}, kPoolMaxBytes,
                             kPoolMaxBytes + 1, size_t{1} << 20}) {
    void* p = pool_allocate(bytes);
    ASSERT_NE(p, nullptr);
    std::memset(p, 1, bytes);
    pool_free(p, bytes);
  }
  pool_free(nullptr, 64);
}

TEST(Pool, ReusesTheBlockFreedLast) {
  if (SY_ASAN != 0) GTEST_SKIP() << "every block is its own malloc";
  void* a = pool_allocate(200);
  pool_free(a, 200);
  void* b = pool_allocate(193);
  EXPECT_EQ(a, b) << "the same class of 64 bytes";
  pool_free(b, 193);
}

// One thread allocates all, another frees all: the memory must come round.
TEST(Pool, BlocksFreedElsewhereComeBack) {
  if (SY_ASAN != 0) GTEST_SKIP();
  constexpr int kRounds = 400;
  constexpr int kBlocks = 512;
  std::set<void*> seen;
  std::atomic<void**> handed{nullptr};
  std::atomic<bool> end{false};
  std::thread consumer([&] {
    for (;;) {
      void** blocks = handed.exchange(nullptr);
      if (blocks == nullptr) {
        if (end) return;
        std::this_thread::yield();
        continue;
      }
      for (int i = 0; i < kBlocks; ++i) pool_free(blocks[i], 100);
      delete[] blocks;
    }
  });
  for (int r = 0; r < kRounds; ++r) {
    auto** blocks = new void*[kBlocks];
    for (int i = 0; i < kBlocks; ++i) {
      blocks[i] = pool_allocate(100);
      seen.insert(blocks[i]);
    }
    while (handed.load() != nullptr) std::this_thread::yield();
    handed = blocks;
  }
  while (handed.load() != nullptr) std::this_thread::yield();
  end = true;
  consumer.join();
  EXPECT_LT(seen.size(), 8u * kBlocks) << "of " << kRounds * kBlocks;
}

TEST(Pool, AnEndingThreadLeavesItsBlocksToTheOthers) {
  if (SY_ASAN != 0) GTEST_SKIP();
  std::set<void*> seen;
  for (int r = 0; r < 200; ++r) {
    std::thread([&seen] {
      void* blocks[10];
      for (void*& b : blocks) seen.insert(b = pool_allocate(700));
      for (void* b : blocks) pool_free(b, 700);
    }).join();
  }
  EXPECT_LT(seen.size(), 100u) << "of 2000";
}

// Runs after the pool's own destructor: thread-local destructors run in the
// reverse order of construction.
struct UsesPoolLate {
  std::vector<void*> blocks;
  ~UsesPoolLate() {
    for (void* b : blocks) pool_free(b, 64);
    for (int i = 0; i < 1000; ++i) {
      void* p = pool_allocate(64);
      std::memset(p, 1, 64);
      pool_free(p, 64);
    }
    used = true;
  }
  static std::atomic<bool> used;
};
std::atomic<bool> UsesPoolLate::used{false};

TEST(Pool, WorksInThreadLocalDestructorsAfterItsOwn) {
  const detail::PoolCounters before = detail::pool_counters();
  std::thread([] {
    thread_local UsesPoolLate late;
    for (int i = 0; i < 300; ++i) late.blocks.push_back(pool_allocate(64));
  }).join();
  EXPECT_TRUE(UsesPoolLate::used);
  EXPECT_EQ(detail::pool_counters().bytes, before.bytes);
}

TEST(Pool, CountersAddUpOverThreads) {
  const detail::PoolCounters before = detail::pool_counters();
  constexpr int kBlocks = 1000;
  std::vector<void*> blocks(kBlocks);
  std::thread([&] {
    for (void*& b : blocks) b = detail::pool_get(128, 100);
  }).join();
  detail::PoolCounters now = detail::pool_counters();
  EXPECT_EQ(now.bytes - before.bytes, 100 * kBlocks);
  EXPECT_EQ(now.calls - before.calls, kBlocks);
  for (void* b : blocks) detail::pool_put(b, 128, 100);
  now = detail::pool_counters();
  EXPECT_EQ(now.bytes, before.bytes);
}

TEST(Pool, RandomTrafficOfManyThreadsKeepsBlocksApart) {
  constexpr int kSlots = 256;
  static std::atomic<uint64_t*> slots[kSlots];
  std::vector<std::thread> threads;
  std::atomic<int> clashes{0};
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([t, &clashes] {
      uint32_t random = 1234 + t;
      for (int i = 0; i < 20000; ++i) {
        random = random * 1664525 + 1013904223;
        auto* mine = static_cast<uint64_t*>(pool_allocate(64));
        for (int k = 0; k < 8; ++k) mine[k] = random;
        uint64_t* other = slots[random >> 24].exchange(mine);
        if (other == nullptr) continue;
        for (int k = 1; k < 8; ++k) clashes += other[k] != other[0];
        pool_free(other, 64);
      }
    });
  }
  for (auto& t : threads) t.join();
  for (auto& s : slots) pool_free(s.exchange(nullptr), 64);
  EXPECT_EQ(clashes, 0);
}

TEST(Pool, AForkedChildMayAllocate) {
  if (SY_ASAN != 0) GTEST_SKIP() << "ASan's malloc locks up after a fork";
  std::atomic<bool> end{false};
  std::thread busy([&end] {
    while (!end) {
      std::vector<void*> blocks(300);
      for (void*& b : blocks) b = pool_allocate(64);
      for (void* b : blocks) pool_free(b, 64);
    }
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      std::vector<void*> blocks(1000);
      for (void*& b : blocks) b = pool_allocate(64);
      for (void* b : blocks) pool_free(b, 64);
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  end = true;
  busy.join();
}

}  // namespace
}  // namespace sy
