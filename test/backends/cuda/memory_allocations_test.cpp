#include <vector>

#include "test/backends/cuda/memory_fixture.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

// A device whose addresses cannot be reserved, because it says to have 1 TiB,
// gets its memory by the driver's allocations.

namespace sy::cuda {
namespace {

using namespace memory_testing;

constexpr size_t kMiB = size_t{1} << 20;
constexpr const char* kMemory = "FAKE_CUDA_MEMORY";

using DeviceAllocations = DeviceMemoryTest;

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

TEST_F(DeviceAllocations, BlocksAreCutFromThem) {
  if (!with_environment(kMemory, "1024G")) return;
  const int64_t creations = counters().creations;
  void* small = a.allocate(100);
  void* p = a.allocate(2 * kMiB);
  void* q = a.allocate(3 * kMiB);
  EXPECT_EQ(counters().creations, creations);
  EXPECT_EQ(a.stats().system_calls, 2);
  EXPECT_EQ(address(p) % 256, 0U);
  EXPECT_EQ(address(q), address(p) + 2 * kMiB);
  driver::check(driver::api().fill(address(q), 3, 3 * kMiB, nullptr), "fill");
  finish();
  EXPECT_EQ(static_cast<char*>(q)[3 * kMiB - 1], 3);
  a.deallocate(small, 100);
  a.deallocate(p, 2 * kMiB);
  a.deallocate(q, 3 * kMiB);
}

TEST_F(DeviceAllocations, NeighboursOfOneBecomeOneBlockButNotOfTwo) {
  if (!with_environment(kMemory, "1024G")) return;
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(a.allocate(4 * kMiB));
  EXPECT_EQ(a.stats().system_calls, 2);  // of 16 MiB
  for (void* b : blocks) a.deallocate(b, 4 * kMiB);
  void* p = a.allocate(16 * kMiB);
  EXPECT_EQ(a.stats().system_calls, 2);
  a.deallocate(p, 16 * kMiB);
  void* q = a.allocate(17 * kMiB);
  EXPECT_EQ(a.stats().system_calls, 3);
  a.deallocate(q, 17 * kMiB);
}

TEST_F(DeviceAllocations, TrimGivesBackThoseThatNothingUses) {
  if (!with_environment(kMemory, "1024G")) return;
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(a.allocate(4 * kMiB));
  for (int i = 1; i < 8; ++i) a.deallocate(blocks[i], 4 * kMiB);
  const int64_t before = counters().device_bytes;
  finish();
  a.trim();
  EXPECT_GE(before - counters().device_bytes, static_cast<int64_t>(16 * kMiB));
  EXPECT_GE(a.stats().cached, static_cast<int64_t>(12 * kMiB));
  a.deallocate(blocks[0], 4 * kMiB);
  a.trim();
  EXPECT_EQ(counters().device_bytes, 0);
}

TEST_F(DeviceAllocations, AFailingOneIsTriedAgain) {
  if (!with_environment(kMemory, "1024G")) return;
  fail_allocate(1);
  void* p = a.allocate(20 * kMiB);
  EXPECT_NE(p, nullptr);
  a.deallocate(p, 20 * kMiB);
  // One of the usual size is refused, but not the bytes that are needed.
  a.trim();
  fail_allocate(1);
  void* q = a.allocate(2 * kMiB);
  EXPECT_LT(counters().device_bytes, static_cast<int64_t>(3 * kMiB));
  a.deallocate(q, 2 * kMiB);
}

TEST_F(DeviceAllocations, MoreThanThereIsIsAnError) {
  if (!with_environment(kMemory, "1024G")) return;
  SY_EXPECT_ERROR(a.allocate(size_t{2} << 40), OutOfMemoryError,
                  "free of 1.0 TiB");
}

}  // namespace
}  // namespace sy::cuda
