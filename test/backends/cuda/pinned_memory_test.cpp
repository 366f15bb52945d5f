#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "c10/device/device_guard.h"
#include "test/backends/cuda/memory_fixture.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

namespace sy::cuda {
namespace {

using namespace memory_testing;

constexpr size_t kMiB = size_t{1} << 20;

class PinnedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const int device : {0, 1}) use_device(device);
    clean();
    others_ = counters().host_bytes;
  }
  void TearDown() override {
    fail_host_allocate(0);
    clean();
    EXPECT_EQ(a.stats().allocated, 0);
    EXPECT_EQ(counters().host_bytes, others_);
  }
  void clean() {
    finish();
    a.set_limit(0);
    a.trim();
    a.reset_peak();
  }
  // The bytes that the allocator holds; the runtime has pinned memory of its
  // own.
  int64_t held() const { return counters().host_bytes - others_; }

  Allocator& a = pinned_allocator();

 private:
  int64_t others_ = 0;
};

TEST_F(PinnedMemory, TheHostReadsAndWritesIt) {
  for (const size_t bytes : {size_t{1}, size_t{64}, size_t{5000}, 3 * kMiB}) {
    auto* p = static_cast<unsigned char*>(a.allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uint64_t>(p) % 64, 0U);
    std::fill_n(p, bytes, 9);
    EXPECT_EQ(p[bytes - 1], 9);
    a.deallocate(p, bytes);
  }
  EXPECT_EQ(a.allocate(0), nullptr);
}

TEST_F(PinnedMemory, ItIsKnownByItsAddresses) {
  void* p = a.allocate(kMiB);
  auto* first = static_cast<char*>(p);
  EXPECT_TRUE(is_pinned_memory(p));
  EXPECT_TRUE(is_pinned_memory(p, kMiB));
  EXPECT_TRUE(is_pinned_memory(first + kMiB - 1));
  EXPECT_TRUE(is_pinned_memory(first + 10, kMiB - 10));
  EXPECT_FALSE(is_pinned_memory(p, kMiB + 1));
  EXPECT_FALSE(is_pinned_memory(first + 1, kMiB));
  EXPECT_FALSE(is_pinned_memory(first + kMiB));
  EXPECT_FALSE(is_pinned_memory(first - 1));
  EXPECT_FALSE(is_pinned_memory(p, ~size_t{0}));
  int on_stack;
  EXPECT_FALSE(is_pinned_memory(&on_stack));
  EXPECT_FALSE(is_pinned_memory(nullptr));
  a.deallocate(p, kMiB);
}

TEST_F(PinnedMemory, BlocksAreKept) {
  void* p = a.allocate(3 * kMiB);
  a.deallocate(p, 3 * kMiB);
  const int64_t system = a.stats().system_calls;
  void* q = a.allocate(4 * kMiB);  // the same power of two
  EXPECT_EQ(q, p);
  EXPECT_EQ(a.stats().system_calls, system);
  a.deallocate(q, 4 * kMiB);
  EXPECT_EQ(a.stats().cached, static_cast<int64_t>(4 * kMiB));
  EXPECT_EQ(held(), static_cast<int64_t>(4 * kMiB));
  a.trim();
  EXPECT_EQ(held(), 0);
  EXPECT_FALSE(is_pinned_memory(q));
}

TEST_F(PinnedMemory, SmallBlocksShareWhatIsPinnedAtOnce) {
  const int64_t system = a.stats().system_calls;
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(a.allocate(1000));
  EXPECT_EQ(a.stats().system_calls, system + 1);
  std::sort(blocks.begin(), blocks.end());
  for (size_t i = 1; i < blocks.size(); ++i) {
    EXPECT_GE(static_cast<char*>(blocks[i]) - static_cast<char*>(blocks[i - 1]),
              1000);
  }
  a.deallocate(blocks.back(), 1000);
  blocks.pop_back();
  a.trim();  // the chunk is in use
  EXPECT_GT(held(), 0);
  for (void* b : blocks) a.deallocate(b, 1000);
}

// The host may write to a block at once, so that no stream is like another.
TEST_F(PinnedMemory, ABlockIsUsedAgainOnceItsCopiesAreDone) {
  Paused paused;
  void* p = a.allocate(2 * kMiB);
  use(a, p, 0);
  a.deallocate(p, 2 * kMiB);
  void* q = a.allocate(2 * kMiB);
  EXPECT_NE(q, p);
  paused.go_on();
  finish();
  void* r = a.allocate(2 * kMiB);
  EXPECT_EQ(r, p);
  a.deallocate(q, 2 * kMiB);
  a.deallocate(r, 2 * kMiB);
}

TEST_F(PinnedMemory, WhenTheSystemPinsNoMoreItWaitsForCopies) {
  const NewStream other(1);
  Paused paused;
  void* p = a.allocate(2 * kMiB);
  use(a, p, 0);
  use(a, p, other, 1);
  a.deallocate(p, 2 * kMiB);
  fail_host_allocate(1);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    paused.go_on();
  });
  void* q = a.allocate(2 * kMiB);
  EXPECT_EQ(q, p);
  opener.join();
  a.deallocate(q, 2 * kMiB);
}

TEST_F(PinnedMemory, WhenTheSystemPinsNoMoreItGivesBackWhatItKeeps) {
  a.deallocate(a.allocate(8 * kMiB), 8 * kMiB);
  fail_host_allocate(1);
  void* p = a.allocate(16 * kMiB);
  EXPECT_EQ(held(), static_cast<int64_t>(16 * kMiB));
  a.deallocate(p, 16 * kMiB);
}

TEST_F(PinnedMemory, TheLimitHolds) {
  a.set_limit(static_cast<int64_t>(kMiB));
  void* p = a.allocate(kMiB - 10);
  SY_EXPECT_ERROR(a.allocate(11), OutOfMemoryError,
                  "[cuda] out of pinned memory: asked for 11 bytes, 1048566 in "
                  "use");
  void* q = a.allocate(10);
  a.deallocate(p, kMiB - 10);
  a.deallocate(q, 10);
  EXPECT_EQ(a.stats().peak, static_cast<int64_t>(kMiB));
}

TEST_F(PinnedMemory, ALimitOf0IsNone) {
  a.set_limit(1);
  a.set_limit(0);
  void* p = a.allocate(kMiB);
  a.deallocate(p, kMiB);
  EXPECT_EQ(a.stats().limit, 0);
}

TEST_F(PinnedMemory, WhatIsKeptCountsTowardsTheLimit) {
  a.set_limit(static_cast<int64_t>(4 * kMiB));
  a.deallocate(a.allocate(2 * kMiB), 2 * kMiB);
  void* p = a.allocate(4 * kMiB);
  EXPECT_EQ(held(), static_cast<int64_t>(4 * kMiB));
  a.deallocate(p, 4 * kMiB);
}

// The limit counts the bytes that are asked for: blocks may be larger.
TEST_F(PinnedMemory, ALimitThatIsNoPowerOfTwoCanBeUsedUp) {
  a.set_limit(static_cast<int64_t>(3 * kMiB));
  void* p = a.allocate(3 * kMiB);
  EXPECT_EQ(held(), static_cast<int64_t>(4 * kMiB));
  a.deallocate(p, 3 * kMiB);
}

TEST_F(PinnedMemory, AtTheLimitItWaitsForCopies) {
  a.set_limit(static_cast<int64_t>(2 * kMiB));
  const NewStream other(1);
  Paused paused;
  void* p = a.allocate(2 * kMiB);
  use(a, p, 0);
  use(a, p, other, 1);
  a.deallocate(p, 2 * kMiB);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    paused.go_on();
  });
  void* q = a.allocate(2 * kMiB);
  EXPECT_EQ(q, p);
  EXPECT_EQ(held(), static_cast<int64_t>(2 * kMiB));
  opener.join();
  a.deallocate(q, 2 * kMiB);
}

// No copy that ends makes room for it.
TEST_F(PinnedMemory, WhatIsBeyondTheLimitIsAnErrorAtOnce) {
  a.set_limit(static_cast<int64_t>(2 * kMiB));
  void* in_use = a.allocate(kMiB);
  Paused paused;
  void* p = a.allocate(kMiB);
  use(a, p, 0);
  a.deallocate(p, kMiB);
  SY_EXPECT_ERROR(a.allocate(kMiB + 1), OutOfMemoryError,
                  "asked for 1048577 bytes, 1048576 in use, 1048576 cached, "
                  "limit 2097152");
  a.deallocate(in_use, kMiB);
}

// The driver waits for the devices before it frees pinned memory, and a thread
// that uses pinned memory may be what they wait for.
TEST_F(PinnedMemory, GivingItBackKeepsNobodyFromUsingIt) {
  a.deallocate(a.allocate(kMiB), kMiB);
  void* p = a.allocate(2 * kMiB);
  Paused paused;
  use(a, p, 0);
  std::thread trimming([&] { a.trim(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  a.deallocate(p, 2 * kMiB);
  EXPECT_EQ(a.stats().allocated, 0);
  paused.go_on();
  trimming.join();
}

TEST_F(PinnedMemory, WhatNoMachineHasIsAnError) {
  SY_EXPECT_ERROR(a.allocate(~size_t{0}), OutOfMemoryError,
                  "no machine has so much");
  SY_EXPECT_ERROR(a.allocate(size_t{1} << 47), OutOfMemoryError,
                  "the system pins no more");
}

TEST(PinnedMemoryOfOneDevice, NeedsNoOther) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  use_device(1);
  Allocator& a = pinned_allocator();
  void* p = a.allocate(kMiB);
  a.deallocate(p, kMiB);
  a.trim();
  EXPECT_EQ(counters().contexts, 1);
}

TEST(PinnedMemoryOfNoDevice, TakesTheCurrentOne) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const DeviceGuard guard(Device(kCUDA, 2));
  Allocator& a = pinned_allocator();
  a.deallocate(a.allocate(kMiB), kMiB);
  EXPECT_EQ(counters().contexts, 1);
  EXPECT_NE(used_device(2), nullptr);
}

TEST(PinnedMemoryOfAFailedDevice, IsThatOfTheOthers) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  for (const int device : {0, 1}) use_device(device);
  const std::string text = "a failure of the test";
  const auto try_one = [] {
    Allocator& a = pinned_allocator();
    void* p = a.allocate(kMiB);
    a.deallocate(p, kMiB);
    a.trim();
  };
  device_state(1).errors.fail(&text);
  try_one();
  EXPECT_EQ(used_device(2), nullptr);
  device_state(0).errors.fail(&text);
  try_one();
  EXPECT_NE(used_device(2), nullptr);
  device_state(2).errors.fail(&text);
  SY_EXPECT_ERROR(pinned_allocator().allocate(kMiB), Error, text);
}

TEST(PinnedMemoryLimit, ComesFromTheEnvironment) {
  if (!with_environment("SWITCHYARD_CUDA_PINNED_LIMIT", "1M")) return;
  EXPECT_EQ(pinned_allocator().stats().limit, static_cast<int64_t>(kMiB));
  SY_EXPECT_ERROR(pinned_allocator().allocate(kMiB + 1), OutOfMemoryError,
                  "SWITCHYARD_CUDA_PINNED_LIMIT changes the limit");
}

}  // namespace
}  // namespace sy::cuda
