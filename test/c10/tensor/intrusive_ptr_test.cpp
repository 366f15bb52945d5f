#include "c10/tensor/intrusive_ptr.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sy {
namespace {

std::atomic<int> released{0};
std::atomic<int> destroyed{0};

struct Thing : RefCounted {
  int value = 7;
  void release_resources() { ++released; }
  ~Thing() { ++destroyed; }
};

class IntrusivePtr : public testing::Test {
 protected:
  void SetUp() override { released = destroyed = 0; }
};

TEST_F(IntrusivePtr, CopiesShareAndMovesDoNot) {
  auto a = make_intrusive<Thing>();
  auto b = a;
  EXPECT_EQ(a.use_count(), 2u);
  auto c = std::move(b);
  EXPECT_FALSE(b);
  EXPECT_EQ(c.use_count(), 2u);
  a = a;
  EXPECT_EQ(a.use_count(), 2u);
  a.reset();
  EXPECT_EQ(destroyed, 0);
  c = nullptr;
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(released, 0) << "no weak owner: destroyed at once";
}

TEST_F(IntrusivePtr, WeakOwnersKeepTheObjectButNotItsResources) {
  auto a = make_intrusive<Thing>();
  weak_intrusive_ptr<Thing> w(a);
  EXPECT_EQ(w.lock()->value, 7);
  a.reset();
  EXPECT_EQ(released, 1);
  EXPECT_EQ(destroyed, 0);
  EXPECT_TRUE(w.expired());
  EXPECT_FALSE(w.lock());
  w = weak_intrusive_ptr<Thing>();
  EXPECT_EQ(destroyed, 1);
}

TEST_F(IntrusivePtr, CountsHoldUnderThreads) {
  auto a = make_intrusive<Thing>();
  weak_intrusive_ptr<Thing> w(a);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([a, &w] {
      for (int i = 0; i < 5000; ++i) {
        auto copy = a;
        const auto locked = w.lock();
        ASSERT_EQ(locked, copy);
      }
    });
  }
  for (auto& t : threads) t.join();
  threads.clear();
  EXPECT_EQ(a.use_count(), 1u);
  EXPECT_EQ(a->weak_use_count(), 2u);
}

}  // namespace
}  // namespace sy
