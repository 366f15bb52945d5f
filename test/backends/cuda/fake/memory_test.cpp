#include <cstring>

#include "test/backends/cuda/fake/driver_fixture.h"

namespace {

using namespace fake_cuda;
using driver::MemoryHandle;
using enum driver::Result;

class MemoryTest : public DriverTest {
 protected:
  static constexpr size_t kGranule = size_t{2} << 20;

  size_t free_bytes() {
    size_t free = 0, total = 0;
    EXPECT_EQ(api().memory_info(&free, &total), kSuccess);
    EXPECT_LE(free, total);
    return free;
  }
  MemoryHandle create(size_t granules, int device = 0) {
    driver::AllocationProperties p;
    p.location.id = device;
    MemoryHandle h = 0;
    EXPECT_EQ(api().create(&h, granules * kGranule, &p, 0), kSuccess);
    return h;
  }
  DevicePointer reserve(size_t granules) {
    DevicePointer p = 0;
    EXPECT_EQ(api().reserve(&p, granules * kGranule, 0, 0, 0), kSuccess);
    EXPECT_EQ(p % kGranule, 0u);
    return p;
  }
  int set_access(DevicePointer p, size_t granules, int device = 0) {
    driver::Access a;
    a.location.id = device;
    return api().set_access(p, granules * kGranule, &a, 1);
  }
};

TEST_F(MemoryTest, AllocatesAndCounts) {
  const size_t before = free_bytes();
  const DevicePointer p = allocate(1000);
  EXPECT_EQ(p % 512, 0u);
  EXPECT_EQ(before - free_bytes(), 1024u);
  EXPECT_EQ(read<unsigned char>(p, 1)[0], 0xcb);  // junk
  EXPECT_EQ(api().free(p), kSuccess);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(api().free(p), kInvalidValue);
  EXPECT_EQ(api().free(p + 8), kInvalidValue);
  EXPECT_EQ(api().free(0), kSuccess);
  DevicePointer none;
  EXPECT_EQ(api().allocate(&none, 0), kInvalidValue);
}

TEST_F(MemoryTest, RunsOutOfMemory) {
  DevicePointer p;
  EXPECT_EQ(api().allocate(&p, size_t{1} << 40), kOutOfMemory);
  control().fail_allocate(2);
  const DevicePointer first = allocate(8);
  EXPECT_EQ(api().allocate(&p, 8), kOutOfMemory);
  EXPECT_EQ(api().free(first), kSuccess);
  control().fail_create(1);
  driver::AllocationProperties properties;
  MemoryHandle h;
  EXPECT_EQ(api().create(&h, kGranule, &properties, 0), kOutOfMemory);
  control().fail_host_allocate(1);
  void* host;
  EXPECT_EQ(api().host_allocate(&host, 8, 0), kOutOfMemory);
}

TEST_F(MemoryTest, CopiesStayInsideOfMemory) {
  const DevicePointer p = allocate(512);
  char host[1024] = {};
  EXPECT_EQ(api().copy_from_host(p, host, 513, stream), kInvalidValue);
  EXPECT_EQ(api().copy_to_host(host, p + 512, 1, stream), kInvalidValue);
  EXPECT_EQ(api().fill(p, 0, 513, stream), kInvalidValue);
  EXPECT_EQ(
      api().copy_on_device(p, reinterpret_cast<DevicePointer>(host), 4, stream),
      kInvalidValue);
  EXPECT_EQ(api().copy_from_host(p, reinterpret_cast<void*>(p), 4, stream),
            kInvalidValue);
  EXPECT_EQ(api().copy_from_host(p, host, 0, stream), kSuccess);
  EXPECT_EQ(api().free(p), kSuccess);
  EXPECT_EQ(api().copy_from_host(p, host, 4, stream), kInvalidValue);
}

TEST_F(MemoryTest, PinnedMemoryIsTheDevicesToo) {
  void* host;
  ASSERT_EQ(api().host_allocate(&host, 100, driver::kHostMapped), kSuccess);
  DevicePointer p;
  ASSERT_EQ(api().host_pointer(&p, static_cast<char*>(host) + 4, 0), kSuccess);
  ASSERT_EQ(api().fill(p, 7, 4, stream), kSuccess);
  ASSERT_EQ(api().stream_synchronize(stream), kSuccess);
  EXPECT_EQ(static_cast<char*>(host)[4], 7);
  EXPECT_GE(control().count().host_bytes, 100);
  EXPECT_EQ(api().host_free(static_cast<char*>(host) + 4), kInvalidValue);
  EXPECT_EQ(api().host_free(host), kSuccess);
  EXPECT_EQ(api().host_pointer(&p, host, 0), kInvalidValue);
}

TEST_F(MemoryTest, AddressesAndMemoryApart) {
  const size_t before = free_bytes();
  const DevicePointer p = reserve(4);
  const MemoryHandle a = create(1), b = create(2);
  EXPECT_EQ(before - free_bytes(), 3 * kGranule);
  ASSERT_EQ(api().map(p, kGranule, 0, a, 0), kSuccess);
  ASSERT_EQ(api().map(p + kGranule, 2 * kGranule, 0, b, 0), kSuccess);
  char byte = 1;
  // Nobody may use it yet.
  EXPECT_EQ(api().copy_from_host(p, &byte, 1, stream), kInvalidValue);
  ASSERT_EQ(set_access(p, 3), kSuccess);
  // Across the seam.
  ASSERT_EQ(api().fill(p, 3, 3 * kGranule, stream), kSuccess);
  EXPECT_EQ(read<char>(p + kGranule - 1, 2), (std::vector<char>{3, 3}));
  EXPECT_EQ(api().fill(p, 3, 3 * kGranule + 1, stream), kInvalidValue);

  // Memory outlives its handle while it is mapped, and moves with its contents.
  EXPECT_EQ(api().unmap(p + kGranule, 2 * kGranule), kSuccess);
  ASSERT_EQ(api().map(p + 2 * kGranule, 2 * kGranule, 0, b, 0), kSuccess);
  ASSERT_EQ(set_access(p + 2 * kGranule, 2), kSuccess);
  EXPECT_EQ(api().release(b), kSuccess);
  EXPECT_EQ(read<char>(p + 3 * kGranule, 1), std::vector<char>{3});
  EXPECT_EQ(before - free_bytes(), 3 * kGranule);
  EXPECT_EQ(api().unmap(p + 2 * kGranule, 2 * kGranule), kSuccess);
  EXPECT_EQ(before - free_bytes(), kGranule);
  EXPECT_EQ(api().unmap(p, kGranule), kSuccess);
  EXPECT_EQ(api().release(a), kSuccess);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(api().release_addresses(p, 4 * kGranule), kSuccess);
}

TEST_F(MemoryTest, TwoMappingsOfTheSameMemory) {
  const DevicePointer p = reserve(2);
  const MemoryHandle h = create(1);
  ASSERT_EQ(api().map(p, kGranule, 0, h, 0), kSuccess);
  ASSERT_EQ(api().map(p + kGranule, kGranule, 0, h, 0), kSuccess);
  ASSERT_EQ(set_access(p, 2), kSuccess);
  ASSERT_EQ(api().fill(p + 5, 9, 1, stream), kSuccess);
  EXPECT_EQ(read<char>(p + kGranule + 5, 1), std::vector<char>{9});
  EXPECT_EQ(api().unmap(p, 2 * kGranule), kSuccess);
  EXPECT_EQ(api().release(h), kSuccess);
  EXPECT_EQ(api().release_addresses(p, 2 * kGranule), kSuccess);
}

TEST_F(MemoryTest, MisuseOfVirtualMemoryIsRefused) {
  driver::AllocationProperties properties;
  DevicePointer none;
  MemoryHandle h;
  EXPECT_EQ(api().reserve(&none, kGranule / 2, 0, 0, 0), kInvalidValue);
  EXPECT_EQ(api().reserve(&none, kGranule, 3, 0, 0), kInvalidValue);
  EXPECT_EQ(api().create(&h, 4096, &properties, 0), kInvalidValue);
  properties.location.id = 7;
  EXPECT_EQ(api().create(&h, kGranule, &properties, 0), kInvalidDevice);

  const DevicePointer p = reserve(4);
  h = create(2);
  EXPECT_EQ(api().map(p, 2 * kGranule, kGranule, h, 0), kInvalidValue);
  EXPECT_EQ(api().map(p, 3 * kGranule, 0, h, 0), kInvalidValue);
  EXPECT_EQ(api().map(p + 4096, 2 * kGranule, 0, h, 0), kInvalidValue);
  EXPECT_EQ(api().map(p + 3 * kGranule, 2 * kGranule, 0, h, 0), kInvalidValue);
  EXPECT_EQ(api().map(p, 2 * kGranule, 0, h + 100, 0), kInvalidValue);
  ASSERT_EQ(api().map(p + kGranule, 2 * kGranule, 0, h, 0), kSuccess);
  // These ranges overlap what is mapped.
  EXPECT_EQ(api().map(p, 2 * kGranule, 0, h, 0), kInvalidValue);
  EXPECT_EQ(api().map(p + 2 * kGranule, 2 * kGranule, 0, h, 0), kInvalidValue);
  // Parts, or more than is mapped.
  EXPECT_EQ(set_access(p, 3), kInvalidValue);
  EXPECT_EQ(set_access(p + kGranule, 1), kInvalidValue);
  EXPECT_EQ(set_access(p + kGranule, 2, 9), kInvalidDevice);
  EXPECT_EQ(api().unmap(p + kGranule, kGranule), kInvalidValue);
  EXPECT_EQ(api().unmap(p, 3 * kGranule), kInvalidValue);
  // Addresses with something mapped, or another size.
  EXPECT_EQ(api().release_addresses(p, 4 * kGranule), kInvalidValue);
  ASSERT_EQ(api().unmap(p + kGranule, 2 * kGranule), kSuccess);
  EXPECT_EQ(api().unmap(p + kGranule, 2 * kGranule), kInvalidValue);
  EXPECT_EQ(api().release_addresses(p, kGranule), kInvalidValue);
  EXPECT_EQ(api().release_addresses(p + kGranule, kGranule), kInvalidValue);
  EXPECT_EQ(api().release(h), kSuccess);
  EXPECT_EQ(api().release(h), kInvalidValue);
  EXPECT_EQ(api().release_addresses(p, 4 * kGranule), kSuccess);

  // cuMemAlloc's is another kind.
  const DevicePointer plain = allocate(kGranule);
  EXPECT_EQ(api().unmap(plain, kGranule), kInvalidValue);
  EXPECT_EQ(set_access(plain, 1), kInvalidValue);
  EXPECT_EQ(api().free(plain), kSuccess);
}

TEST_F(MemoryTest, MemoryThatIsUnmappedUnderWorkIsAFault) {
  const DevicePointer p = reserve(1);
  const MemoryHandle h = create(1);
  ASSERT_EQ(api().map(p, kGranule, 0, h, 0), kSuccess);
  ASSERT_EQ(set_access(p, 1), kSuccess);
  const driver::Function fill = load(kFillSource, "fill");
  {
    const Paused paused;
    FillParams params{{}, 10, 0, reinterpret_cast<int*>(p)};
    ASSERT_EQ(launch(fill, 1, 32, &params), kSuccess);
    ASSERT_EQ(api().unmap(p, kGranule), kSuccess);
  }
  EXPECT_EQ(api().stream_synchronize(stream), kIllegalAddress);
  control().heal();
  EXPECT_EQ(api().release(h), kSuccess);
  EXPECT_EQ(api().release_addresses(p, kGranule), kSuccess);
}

TEST_F(MemoryTest, TheHostCannotTouchIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const DevicePointer p = allocate(8);
  EXPECT_DEATH(
      { [[maybe_unused]] const char c = *reinterpret_cast<volatile char*>(p); },
      "the host touches memory of a device");
  EXPECT_EQ(api().free(p), kSuccess);
}

TEST_F(MemoryTest, StreamsUseTheSamePages) {
  constexpr int kHalf = 300'000, kTimes = 20;
  const DevicePointer p = allocate(2 * kHalf * sizeof(int));
  ASSERT_EQ(api().fill(p, 0, 2 * kHalf * sizeof(int), stream), kSuccess);
  ASSERT_EQ(api().stream_synchronize(stream), kSuccess);
  driver::Stream other;
  ASSERT_EQ(api().stream_create(&other, driver::kNonBlocking, 0), kSuccess);
  const driver::Function add_one = load(kFillSource, "add_one");
  FillParams first{{}, kHalf, 0, reinterpret_cast<int*>(p)};
  FillParams second{{}, kHalf, 0, reinterpret_cast<int*>(p) + kHalf};
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_EQ(launch(add_one, 4, 256, &first), kSuccess);
    ASSERT_EQ(launch(add_one, 4, 256, &second, 0, other), kSuccess);
  }
  ASSERT_EQ(api().stream_synchronize(other), kSuccess);
  EXPECT_EQ(read<int>(p, 2 * kHalf), std::vector<int>(2 * kHalf, kTimes));
  EXPECT_EQ(api().stream_destroy(other), kSuccess);
  EXPECT_EQ(api().free(p), kSuccess);
}

TEST_F(MemoryTest, Peers) {
  const DevicePointer here = allocate(512);
  ASSERT_EQ(api().context_set(contexts[1]), kSuccess);
  const DevicePointer there = allocate(512);
  driver::Stream other;
  ASSERT_EQ(api().stream_create(&other, driver::kNonBlocking, 0), kSuccess);
  ASSERT_EQ(api().fill(there, 6, 512, other), kSuccess);
  ASSERT_EQ(api().stream_synchronize(other), kSuccess);
  ASSERT_EQ(api().context_set(contexts[0]), kSuccess);
  EXPECT_EQ(api().copy_on_device(here, there, 512, stream), kInvalidValue);
  EXPECT_EQ(
      api().copy_across(here, contexts[0], there, contexts[0], 512, stream),
      kInvalidValue);
  ASSERT_EQ(
      api().copy_across(here, contexts[0], there, contexts[1], 512, stream),
      kSuccess);
  EXPECT_EQ(read<char>(here, 1), std::vector<char>{6});
  int can = 0;
  ASSERT_EQ(api().can_access_peer(&can, 0, 1), kSuccess);
  EXPECT_EQ(can, 1);
  ASSERT_EQ(api().can_access_peer(&can, 1, 1), kSuccess);
  EXPECT_EQ(can, 0);
  ASSERT_EQ(api().enable_peer(contexts[1], 0), kSuccess);
  EXPECT_EQ(api().enable_peer(contexts[1], 0), kPeerAccessAlreadyEnabled);
  EXPECT_EQ(api().enable_peer(contexts[0], 0), kInvalidValue);
  EXPECT_EQ(api().copy_on_device(here, there, 512, stream), kSuccess);
  EXPECT_EQ(api().stream_synchronize(stream), kSuccess);
  EXPECT_EQ(api().stream_destroy(other), kSuccess);
}

// Kernels of a device reach what was mapped for it, and plain memory of peers.
TEST_F(MemoryTest, KernelsReachWhatTheirDeviceMayUse) {
  const DevicePointer p = reserve(1);
  const MemoryHandle h = create(1);
  ASSERT_EQ(api().map(p, kGranule, 0, h, 0), kSuccess);
  ASSERT_EQ(set_access(p, 1, 0), kSuccess);
  const DevicePointer plain = allocate(512);
  ASSERT_EQ(api().context_set(contexts[1]), kSuccess);
  const driver::Function fill = load(kFillSource, "fill");
  driver::Stream other;
  ASSERT_EQ(api().stream_create(&other, driver::kNonBlocking, 0), kSuccess);
  const auto try_fill = [&](DevicePointer at, int value) {
    FillParams params{{}, 1, value, reinterpret_cast<int*>(at)};
    EXPECT_EQ(launch(fill, 1, 32, &params, 0, other), kSuccess);
    const int r = api().stream_synchronize(other);
    control().heal();
    return r;
  };
  EXPECT_EQ(try_fill(p, 1), kIllegalAddress);
  EXPECT_EQ(try_fill(plain, 1), kIllegalAddress);
  ASSERT_EQ(set_access(p, 1, 1), kSuccess);
  EXPECT_EQ(try_fill(p, 2), kSuccess);
  EXPECT_EQ(try_fill(plain, 2), kIllegalAddress);
  EXPECT_EQ(api().enable_peer(contexts[0], 0), kSuccess);
  EXPECT_EQ(try_fill(plain, 3), kSuccess);
  ASSERT_EQ(api().context_set(contexts[0]), kSuccess);
  EXPECT_EQ(read<int>(p, 1), std::vector<int>{2});
  EXPECT_EQ(read<int>(plain, 1), std::vector<int>{3});
  EXPECT_EQ(api().stream_destroy(other), kSuccess);
  EXPECT_EQ(api().free(plain), kSuccess);
  EXPECT_EQ(api().unmap(p, kGranule), kSuccess);
  EXPECT_EQ(api().release(h), kSuccess);
  EXPECT_EQ(api().release_addresses(p, kGranule), kSuccess);
}

}  // namespace
