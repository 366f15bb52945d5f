#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "test/backends/cuda/memory_fixture.h"

// The allocators with many threads; TSan looks on where it is there.

namespace sy::cuda {
namespace {

using namespace memory_testing;

constexpr size_t kMiB = size_t{1} << 20;
constexpr int kThreads = 6;

struct Held {
  void* data;
  size_t bytes;
};

// Blocks on their way to another thread.
class Exchange {
 public:
  void put(Held h) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(h);
  }
  bool take(Held* h) {
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) return false;
    *h = blocks_.back();
    blocks_.pop_back();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<Held> blocks_;
};

size_t some_size(std::mt19937& random) {
  switch (random() % 8) {
    case 0: return kMiB + random() % (4 * kMiB);
    case 1: return 1 + random() % kMiB;
    default: return 1 + random() % 5000;
  }
}

// Nobody else has the block: what its owner writes to it stays. The fake
// devices' memory is the host's.
void mark(const Held& h, unsigned char value) {
  std::memset(h.data, value, std::min<size_t>(h.bytes, 64));
}
bool is_marked(const Held& h, unsigned char value) {
  const auto* p = static_cast<const unsigned char*>(h.data);
  for (size_t i = 0; i < std::min<size_t>(h.bytes, 64); ++i) {
    if (p[i] != value) return false;
  }
  return true;
}

template <class F>
void in_threads(F&& f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { f(t); });
  for (std::thread& t : threads) t.join();
}

using MemoryThreads = DeviceMemoryTest;

TEST_F(MemoryThreads, ABlockHasOneOwner) {
  Exchange exchange;
  std::atomic<int> mistakes = 0;
  in_threads([&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    const auto value = static_cast<unsigned char>(t + 1);
    std::vector<Held> mine;
    for (int i = 0; i < 2000; ++i) {
      if (mine.size() < 12 && random() % 2 == 0) {
        const size_t bytes = some_size(random);
        mine.push_back({a.allocate(bytes), bytes});
        mark(mine.back(), value);
      } else if (!mine.empty()) {
        std::swap(mine[random() % mine.size()], mine.back());
        const Held h = mine.back();
        mine.pop_back();
        if (!is_marked(h, value)) ++mistakes;
        if (random() % 2 == 0) {
          exchange.put(h);
        } else {
          a.deallocate(h.data, h.bytes);
        }
      }
      Held h;
      if (random() % 2 == 0 && exchange.take(&h)) a.deallocate(h.data, h.bytes);
    }
    for (const Held& h : mine) a.deallocate(h.data, h.bytes);
  });
  Held h;
  while (exchange.take(&h)) a.deallocate(h.data, h.bytes);
  EXPECT_EQ(mistakes, 0);
}

// Each thread works in a stream of its own and uses blocks of the others.
TEST_F(MemoryThreads, UsesInOtherStreamsAreNotedWhileThreadsFree) {
  Exchange exchange;
  in_threads([&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    const NewStream stream;
    for (int i = 0; i < 400; ++i) {
      const size_t bytes = some_size(random);
      Held h{a.allocate_on(bytes, stream), bytes};
      use(a, h.data, stream);
      exchange.put(h);
      if (exchange.take(&h)) {
        use(a, h.data, stream);
        a.deallocate(h.data, h.bytes);
      }
    }
  });
  Held h;
  while (exchange.take(&h)) a.deallocate(h.data, h.bytes);
}

TEST_F(MemoryThreads, OthersTrimAndLimitAndCountMeanwhile) {
  std::atomic<bool> over = false;
  std::thread other([&] {
    for (int i = 0; !over; ++i) {
      a.trim();
      const MemoryStats s = a.stats();
      EXPECT_GE(s.cached + s.allocated, 0);
      a.set_limit(i % 2 == 0 ? int64_t{200} << 20 : 0);
      memory_table(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  in_threads([&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    for (int i = 0; i < 500; ++i) {
      const size_t bytes = some_size(random);
      void* p = a.allocate(bytes);
      void* q = a.allocate(bytes);
      a.deallocate(p, bytes);
      a.deallocate(q, bytes);
    }
  });
  over = true;
  other.join();
}

// All threads together want more than there is, and each gets its turn.
TEST_F(MemoryThreads, ThreadsShareTheLastMemory) {
  std::atomic<int> refused = 0;
  in_threads([&](int) {
    for (int i = 0; i < 20; ++i) {
      try {
        void* p = a.allocate(60 * kMiB);
        use(a, p, 0);
        a.deallocate(p, 60 * kMiB);
      } catch (const OutOfMemoryError&) {
        ++refused;
      }
    }
  });
  EXPECT_LT(refused, 20 * kThreads);
  void* p = a.allocate(200 * kMiB);
  a.deallocate(p, 200 * kMiB);
}

TEST_F(MemoryThreads, ThreadsComeAndGo) {
  for (int round = 0; round < 20; ++round) {
    Exchange exchange;
    in_threads([&](int t) {
      std::mt19937 random(static_cast<unsigned>(round * kThreads + t));
      for (int i = 0; i < 40; ++i) {
        const size_t bytes = some_size(random);
        exchange.put({a.allocate(bytes), bytes});
        Held h;
        if (exchange.take(&h)) a.deallocate(h.data, h.bytes);
      }
    });
    Held h;
    while (exchange.take(&h)) a.deallocate(h.data, h.bytes);
  }
}

TEST_F(MemoryThreads, PinnedBlocksHaveOneOwner) {
  Allocator& pinned = pinned_allocator();
  std::atomic<int> mistakes = 0;
  in_threads([&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    const NewStream stream;
    for (int i = 0; i < 300; ++i) {
      const size_t bytes = some_size(random);
      const Held h{pinned.allocate(bytes), bytes};
      mark(h, 2);
      if (!is_pinned_memory(h.data, bytes)) ++mistakes;
      std::this_thread::yield();
      if (!is_marked(h, 2)) ++mistakes;
      // The fill of one byte by 1 must not meet the next owner.
      if (i % 4 == 0) use(pinned, h.data, stream);
      pinned.deallocate(h.data, bytes);
      if (i % 100 == 0) pinned.trim();
    }
  });
  EXPECT_EQ(mistakes, 0);
  EXPECT_EQ(pinned.stats().allocated, 0);
  finish();
  pinned.trim();
}

// A child may end in the ordinary way, whatever the other threads did.
TEST_F(MemoryThreads, AForkedProcessCanFreeWhatItHas) {
  void* small = a.allocate(100);
  void* large = a.allocate(3 * kMiB);
  void* noted = a.allocate(200);
  a.note_use(noted, 0, 12345, 1);
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) {
      void* p = a.allocate(2 * kMiB);
      void* q = pinned_allocator().allocate(1000);
      a.note_use(p, 0, 77, 1);
      a.deallocate(p, 2 * kMiB);
      pinned_allocator().deallocate(q, 1000);
      a.trim();
    }
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      a.deallocate(small, 100);
      a.deallocate(large, 3 * kMiB);
      a.deallocate(noted, 200);
      _exit(a.stats().allocated >= 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  over = true;
  other.join();
  a.deallocate(small, 100);
  a.deallocate(large, 3 * kMiB);
  a.deallocate(noted, 200);
  pinned_allocator().trim();
}

}  // namespace
}  // namespace sy::cuda
