#include "backends/cuda/memory/allocator.h"

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c10/device/device_guard.h"
#include "c10/dispatch/dispatcher.h"
#include "test/backends/cuda/memory_fixture.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

namespace sy::cuda {
namespace {

using namespace memory_testing;

constexpr size_t kMiB = size_t{1} << 20;

using DeviceMemory = DeviceMemoryTest;

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

TEST_F(DeviceMemory, BlocksAreAlignedAndApart) {
  std::map<uint64_t, size_t> blocks;
  std::vector<std::pair<void*, size_t>> all;
  for (const size_t bytes :
       {size_t{1}, size_t{255}, size_t{256}, size_t{257}, size_t{1024},
        size_t{1025}, size_t{4000}, size_t{32769}, kMiB - 1, kMiB, kMiB + 1,
        2 * kMiB, 5 * kMiB + 3}) {
    for (int i = 0; i < 3; ++i) {
      void* p = a.allocate(bytes);
      EXPECT_EQ(address(p) % 256, 0U);
      blocks[address(p)] = bytes;
      all.emplace_back(p, bytes);
    }
  }
  ASSERT_EQ(blocks.size(), all.size());
  uint64_t end = 0;
  for (const auto& [at, bytes] : blocks) {
    EXPECT_GE(at, end);
    end = at + bytes;
  }
  for (const auto& [p, bytes] : all) a.deallocate(p, bytes);
}

TEST_F(DeviceMemory, NothingIsNull) {
  EXPECT_EQ(a.allocate(0), nullptr);
  a.deallocate(nullptr, 0);
  EXPECT_EQ(a.stats().allocated, 0);
}

TEST_F(DeviceMemory, EveryByteCanBeWritten) {
  for (const size_t bytes : {size_t{1}, size_t{300}, kMiB, 3 * kMiB + 7}) {
    void* p = a.allocate(bytes);
    driver::check(driver::api().fill(address(p), 7, bytes, nullptr), "fill");
    finish();
    EXPECT_EQ(static_cast<char*>(p)[bytes - 1], 7);
    a.deallocate(p, bytes);
  }
}

TEST_F(DeviceMemory, AFreedBlockGoesToLaterWorkOfItsStreamAtOnce) {
  for (const size_t bytes : {size_t{100}, 3 * kMiB}) {
    const Paused paused;
    void* p = a.allocate(bytes);
    use(a, p, 0);
    a.deallocate(p, bytes);
    void* again = a.allocate(bytes);
    EXPECT_EQ(again, p);
    a.deallocate(again, bytes);
  }
}

TEST_F(DeviceMemory, AFreedBlockGoesToOtherStreamsOnceItsWorkIsDone) {
  const NewStream other;
  Paused paused;
  void* p = a.allocate(3 * kMiB);
  use(a, p, 0);
  a.deallocate(p, 3 * kMiB);
  void* q = a.allocate_on(3 * kMiB, other);
  EXPECT_NE(q, p);
  paused.go_on();
  finish();
  const int64_t system = a.stats().system_calls;
  void* r = a.allocate_on(3 * kMiB, other);
  EXPECT_EQ(r, p);
  EXPECT_EQ(a.stats().system_calls, system);
  a.deallocate(q, 3 * kMiB);
  a.deallocate(r, 3 * kMiB);
}

TEST_F(DeviceMemory, ASmallBlockStaysWithItsStreamWhileItsWorkRuns) {
  const NewStream other;
  Paused paused;
  void* p = a.allocate(4096);
  use(a, p, 0);
  a.deallocate(p, 4096);
  void* q = a.allocate_on(4096, other);
  EXPECT_NE(q, p);
  a.deallocate(q, 4096);
}

// Spans change streams, too, when no block of them is used.
TEST_F(DeviceMemory, SpansGoToOtherStreamsOnceTheirWorkIsDone) {
  const NewStream other;
  a.set_limit(2 * kMiB);
  void* p = a.allocate(1000);
  {
    const Paused paused;
    use(a, p, 0);
    a.deallocate(p, 1000);
  }
  // All eight spans of the one granule, for another stream.
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(a.allocate_on(1000, other));
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(a.allocate_on(size_t{1000} << (i % 4), other));
  }
  EXPECT_EQ(counters().device_bytes, static_cast<int64_t>(2 * kMiB));
  for (size_t i = 0; i < blocks.size(); ++i) {
    a.deallocate(blocks[i], i < 8 ? 1000 : size_t{1000} << (i % 4));
  }
}

TEST_F(DeviceMemory, WorkInAnotherStreamKeepsABlockFromItsOwn) {
  for (const size_t bytes : {size_t{100}, 3 * kMiB}) {
    const NewStream other;
    Paused paused;
    void* p = a.allocate(bytes);
    use(a, p, other);
    a.deallocate(p, bytes);
    void* q = a.allocate(bytes);
    EXPECT_NE(q, p);
    a.deallocate(q, bytes);
    paused.go_on();
    finish();
    // It comes back when the allocator looks, which a trim does.
    a.trim();
    EXPECT_EQ(a.stats().cached, 0) << bytes;
  }
}

TEST_F(DeviceMemory, AFreedBlockGoesAtOnceToTheOnlyStreamThatUsesIt) {
  const NewStream other;
  void* p = a.allocate(3 * kMiB);  // nothing runs in stream 0
  const Paused paused;
  use(a, p, other);
  a.deallocate(p, 3 * kMiB);
  void* q = a.allocate_on(3 * kMiB, other);
  EXPECT_EQ(q, p);
  a.deallocate(q, 3 * kMiB);
}

TEST_F(DeviceMemory, ABlockUsedByAnotherDeviceWaitsForIt) {
  const NewStream there(1);
  void* p = a.allocate(3 * kMiB);
  void* on_other = device_allocator(1).allocate(16);
  Paused paused;
  const uint64_t ticket = use(device_allocator(1), on_other, there, 1);
  a.note_use(p, 1, there, ticket);
  a.deallocate(p, 3 * kMiB);
  void* q = a.allocate(3 * kMiB);
  EXPECT_NE(q, p);
  a.deallocate(q, 3 * kMiB);
  device_allocator(1).deallocate(on_other, 16);
  paused.go_on();
  finish(1);
  device_allocator(1).trim();
}

TEST_F(DeviceMemory, FreeNeighboursBecomeOneBlock) {
  void* blocks[4];
  for (void*& b : blocks) b = a.allocate(2 * kMiB);
  const int64_t system = a.stats().system_calls;
  for (const int i : {1, 3, 0, 2}) a.deallocate(blocks[i], 2 * kMiB);
  void* p = a.allocate(8 * kMiB);
  EXPECT_EQ(p, blocks[0]);
  EXPECT_EQ(a.stats().system_calls, system);
  a.deallocate(p, 8 * kMiB);
}

TEST_F(DeviceMemory, NeighboursOfDifferentStreamsBecomeOneWhenBothAreDone) {
  const NewStream other;
  void* p = a.allocate(2 * kMiB);
  void* q = a.allocate_on(2 * kMiB, other);
  use(a, p, 0);
  use(a, q, other);
  a.deallocate(p, 2 * kMiB);
  a.deallocate(q, 2 * kMiB);
  finish();
  const int64_t system = a.stats().system_calls;
  void* r = a.allocate(4 * kMiB);
  EXPECT_EQ(r, p);
  EXPECT_EQ(a.stats().system_calls, system);
  a.deallocate(r, 4 * kMiB);
}

TEST_F(DeviceMemory, TheBestFitIsCut) {
  void* large = a.allocate(16 * kMiB);
  void* between = a.allocate(2 * kMiB);
  void* small = a.allocate(4 * kMiB);
  void* after = a.allocate(2 * kMiB);
  a.deallocate(large, 16 * kMiB);
  a.deallocate(small, 4 * kMiB);
  void* p = a.allocate(3 * kMiB);
  EXPECT_EQ(p, small);
  void* q = a.allocate(kMiB + 1);
  EXPECT_EQ(q, large);  // what is left of the small one is too small
  for (const auto& [b, bytes] : std::map<void*, size_t>{{p, 3 * kMiB},
                                                        {q, kMiB + 1},
                                                        {between, 2 * kMiB},
                                                        {after, 2 * kMiB}}) {
    a.deallocate(b, bytes);
  }
}

// 200 MiB are free, but in pieces of 10: they are unmapped, and mapped behind.
TEST_F(DeviceMemory, FreeGranulesAnywhereMakeRoomForALargeBlock) {
  std::vector<void*> blocks;
  for (int i = 0; i < 24; ++i) blocks.push_back(a.allocate(10 * kMiB));
  for (size_t i = 0; i < blocks.size(); i += 2) {
    a.deallocate(blocks[i], 10 * kMiB);
  }
  finish();
  void* p = a.allocate(100 * kMiB);
  driver::check(driver::api().fill(address(p), 3, 100 * kMiB, nullptr), "fill");
  finish();
  EXPECT_EQ(static_cast<char*>(p)[100 * kMiB - 1], 3);
  a.deallocate(p, 100 * kMiB);
  for (size_t i = 1; i < blocks.size(); i += 2) {
    a.deallocate(blocks[i], 10 * kMiB);
  }
}

// A hole between free blocks is filled rather than a new block mapped.
TEST_F(DeviceMemory, MemoryIsMappedWhereTheLeastIsMissing) {
  void* p = a.allocate(4 * kMiB);
  void* q = a.allocate(2 * kMiB);
  a.deallocate(p, 4 * kMiB);
  finish();
  a.trim();
  EXPECT_EQ(counters().device_bytes, static_cast<int64_t>(2 * kMiB));
  a.deallocate(q, 2 * kMiB);
  void* r = a.allocate(6 * kMiB);
  EXPECT_EQ(counters().device_bytes, static_cast<int64_t>(6 * kMiB));
  a.deallocate(r, 6 * kMiB);
}

TEST_F(DeviceMemory, TrimGivesBackAllThatIsNotUsed) {
  void* kept = a.allocate(3 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(a.allocate(1000));
  for (void* b : blocks) a.deallocate(b, 1000);
  a.deallocate(a.allocate(50 * kMiB), 50 * kMiB);
  a.trim();
  EXPECT_EQ(counters().device_bytes, static_cast<int64_t>(4 * kMiB));
  EXPECT_EQ(a.stats().cached, static_cast<int64_t>(kMiB));
  a.deallocate(kept, 3 * kMiB);
}

TEST_F(DeviceMemory, TrimWaitsForNothing) {
  const Paused paused;
  void* p = a.allocate(2 * kMiB);
  use(a, p, 0);
  a.deallocate(p, 2 * kMiB);
  a.deallocate(a.allocate(8 * kMiB), 8 * kMiB);
  a.trim();
  EXPECT_GE(counters().device_bytes, static_cast<int64_t>(2 * kMiB));
}

TEST_F(DeviceMemory, TrimTakesWhatOtherThreadsKeep) {
  std::atomic<int> step = 0;
  std::thread other([&] {
    a.deallocate(a.allocate(1000), 1000);
    step = 1;
    while (step == 1) std::this_thread::yield();
    a.deallocate(a.allocate(1000), 1000);  // as before
  });
  while (step == 0) std::this_thread::yield();
  a.trim();
  EXPECT_EQ(counters().device_bytes, 0);
  EXPECT_EQ(a.stats().cached, 0);
  step = 2;
  other.join();
}

TEST_F(DeviceMemory, ABlockMayBeFreedInAnotherThread) {
  for (const size_t bytes : {size_t{1000}, 2 * kMiB}) {
    void* p = a.allocate(bytes);
    std::thread([&] { a.deallocate(p, bytes); }).join();
    EXPECT_EQ(a.stats().allocated, 0);
  }
}

TEST_F(DeviceMemory, TheBlocksOfAThreadThatEndedAreUsedAgain) {
  a.deallocate(a.allocate(kMiB), kMiB);
  const int64_t system = a.stats().system_calls;
  for (int i = 0; i < 8; ++i) {
    std::thread([&] {
      void* p = a.allocate(kMiB);
      void* q = a.allocate(kMiB);
      a.deallocate(p, kMiB);
      a.deallocate(q, kMiB);
    }).join();
  }
  EXPECT_LE(a.stats().system_calls, system + 1);
}

TEST_F(DeviceMemory, StatsCountBytesAsAskedFor) {
  void* p = a.allocate(1000);
  void* q = a.allocate(3 * kMiB);
  MemoryStats s = a.stats();
  EXPECT_EQ(s.allocated, static_cast<int64_t>(1000 + 3 * kMiB));
  EXPECT_EQ(s.peak, s.allocated);
  EXPECT_EQ(s.cached, counters().device_bytes - s.allocated);
  const int64_t calls = s.allocations;
  a.deallocate(q, 3 * kMiB);
  s = a.stats();
  EXPECT_EQ(s.allocated, 1000);
  EXPECT_EQ(s.peak, static_cast<int64_t>(1000 + 3 * kMiB));
  EXPECT_EQ(s.allocations, calls);
  a.reset_peak();
  EXPECT_EQ(a.stats().peak, 1000);
  a.deallocate(p, 1000);
}

TEST_F(DeviceMemory, TheLimitHoldsForLargeBlocks) {
  a.set_limit(static_cast<int64_t>(10 * kMiB));
  EXPECT_EQ(a.stats().limit, static_cast<int64_t>(10 * kMiB));
  void* p = a.allocate(6 * kMiB);
  SY_EXPECT_ERROR(a.allocate(5 * kMiB), OutOfMemoryError,
                  "set_memory_limit or SWITCHYARD_CUDA_MEMORY_LIMIT");
  a.deallocate(p, 6 * kMiB);
  void* q = a.allocate(9 * kMiB);
  // The allocator gave back first what it had kept.
  EXPECT_LE(counters().device_bytes, static_cast<int64_t>(10 * kMiB));
  a.deallocate(q, 9 * kMiB);
}

TEST_F(DeviceMemory, TheLimitHoldsForSmallBlocks) {
  a.set_limit(static_cast<int64_t>(kMiB));
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(a.allocate(kMiB / 8));
  SY_EXPECT_ERROR(a.allocate(1), OutOfMemoryError, "limit 1.0 MiB");
  a.deallocate(blocks.back(), kMiB / 8);
  blocks.back() = a.allocate(kMiB / 8);
  for (void* b : blocks) a.deallocate(b, kMiB / 8);
}

TEST_F(DeviceMemory, TheEnvironmentSetsTheLimit) {
  if (!with_environment("SWITCHYARD_CUDA_MEMORY_LIMIT", "3M")) return;
  Allocator& other = device_allocator(2);  // made here
  EXPECT_EQ(other.stats().limit, static_cast<int64_t>(3 * kMiB));
  SY_EXPECT_ERROR(other.allocate(4 * kMiB), OutOfMemoryError, "[cuda:2]");
}

TEST_F(DeviceMemory, AFailingCreateIsTriedAgain) {
  for (const size_t bytes : {size_t{100}, 3 * kMiB}) {
    a.trim();
    fail_create(1);
    void* p = a.allocate(bytes);
    EXPECT_NE(p, nullptr);
    a.deallocate(p, bytes);
  }
}

// The fifth piece of 2 MiB is refused; the four before serve later.
TEST_F(DeviceMemory, APartOfWhatIsMissingIsNotLost) {
  fail_create(5);
  void* p = a.allocate(20 * kMiB);
  EXPECT_EQ(counters().device_bytes, static_cast<int64_t>(20 * kMiB));
  a.deallocate(p, 20 * kMiB);
}

TEST_F(DeviceMemory, ShortOfMemoryItWaitsForStreams) {
  const NewStream other;
  void* p = a.allocate(200 * kMiB);
  void* word = a.allocate(16);
  Paused paused;
  use(a, p, 0);
  a.deallocate(p, 200 * kMiB);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    paused.go_on();
  });
  void* q = a.allocate_on(200 * kMiB, other);  // 256 are all there are
  EXPECT_EQ(q, p);
  opener.join();
  a.deallocate(q, 200 * kMiB);
  a.deallocate(word, 16);
}

TEST_F(DeviceMemory, TheErrorSaysWhoHoldsWhat) {
  const auto as = [](const char* name) {
    return detail::DeviceCall(
        &Dispatcher::singleton().find_or_throw(name).entry(), kCUDA, 0);
  };
  void *p, *q, *r;
  {
    const auto call = as("aten::mm");
    p = a.allocate(100 * kMiB);
    q = a.allocate(20 * kMiB);
  }
  {
    const auto call = as("aten::relu");
    r = a.allocate(40 * kMiB);
  }
  void* s = a.allocate(2 * kMiB);
  void* small = a.allocate(1000);
  const auto call = as("aten::add.Tensor");
  try {
    a.allocate(128 * kMiB);
    ADD_FAILURE() << "there is no such memory";
  } catch (const OutOfMemoryError& e) {
    const std::string text = e.what();
    EXPECT_TRUE(text.starts_with(
        "[cuda:0] out of memory: aten::add.Tensor asked for 134217728 bytes "
        "(128.0 MiB); 162.0 MiB in use, "))
        << text;
    EXPECT_NE(text.find("limit none"), std::string::npos) << text;
    EXPECT_NE(text.find("free of 256.0 MiB (the device has no more)\n"
                        "in use by\n"
                        "  aten::mm: 120.0 MiB in 2 blocks\n"
                        "  aten::relu: 40.0 MiB in 1 block\n"
                        "  no operator: 2.0 MiB in 1 block\n"
                        "  small blocks: 1.0 KiB in 1 block: 1 of 1.0 KiB"),
              std::string::npos)
        << text;
  }
  EXPECT_NE(memory_table(0).find("aten::mm: 120.0 MiB"), std::string::npos);
  for (const auto& [b, bytes] :
       std::vector<std::pair<void*, size_t>>{{p, 100 * kMiB},
                                             {q, 20 * kMiB},
                                             {r, 40 * kMiB},
                                             {s, 2 * kMiB},
                                             {small, 1000}}) {
    a.deallocate(b, bytes);
  }
}

TEST_F(DeviceMemory, WhatNoDeviceHasIsAnError) {
  SY_EXPECT_ERROR(a.allocate(~size_t{0}), OutOfMemoryError,
                  "no device has so much");
  SY_EXPECT_ERROR(a.allocate(size_t{1} << 47), OutOfMemoryError,
                  "the device has no more");
  EXPECT_EQ(a.stats().allocated, 0);
}

TEST_F(DeviceMemory, TheMemoryOfStreamsThatAreGoneGoesToNewOnes) {
  for (int i = 0; i < 50; ++i) {
    const NewStream stream;
    void* small = a.allocate_on(kMiB, stream);
    void* large = a.allocate_on(3 * kMiB, stream);
    use(a, small, stream);
    use(a, large, stream);
    a.deallocate(small, kMiB);
    a.deallocate(large, 3 * kMiB);
    finish();
  }
  EXPECT_LE(counters().device_bytes, static_cast<int64_t>(16 * kMiB));
}

TEST_F(DeviceMemory, AnotherDeviceReachesItWhenItMay) {
  Allocator& b = device_allocator(1);
  void* before = a.allocate(2 * kMiB);
  void* there = b.allocate(2 * kMiB);
  const auto copies = [&](void* from) {
    use_device(1);
    const driver::Stream stream = current_stream(1);
    const driver::Result r = driver::api().copy_on_device(
        address(there), address(from), 2 * kMiB, stream);
    return r == driver::kSuccess &&
           driver::api().stream_synchronize(stream) == driver::kSuccess;
  };
  let_reach(0, 1);
  let_reach(0, 1);
  void* after = a.allocate(4 * kMiB);
  EXPECT_TRUE(copies(before));
  EXPECT_TRUE(copies(after));
  use_device(0);
  a.deallocate(before, 2 * kMiB);
  a.deallocate(after, 4 * kMiB);
  b.deallocate(there, 2 * kMiB);
  finish(1);
  b.trim();
}

// Threads that only free count below zero, and are asked all the same.
TEST_F(DeviceMemory, TheLimitHoldsForAThreadThatFreedWhatOthersAllocated) {
  std::vector<void*> blocks;
  std::thread([&] {
    for (int i = 0; i < 16; ++i) blocks.push_back(a.allocate(kMiB));
  }).join();
  for (void* b : blocks) a.deallocate(b, kMiB);
  a.set_limit(static_cast<int64_t>(3 * kMiB));
  for (int i = 0; i < 3; ++i) blocks[static_cast<size_t>(i)] = a.allocate(kMiB);
  SY_EXPECT_ERROR(a.allocate(1), OutOfMemoryError, "limit 3.0 MiB");
  for (int i = 0; i < 3; ++i)
    a.deallocate(blocks[static_cast<size_t>(i)], kMiB);
}

}  // namespace
}  // namespace sy::cuda
