#include <cstring>

#include "test/backends/cuda/fake/driver_fixture.h"

namespace {

using namespace fake_cuda;
using driver::Function;
using enum driver::Result;

class LaunchTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    fill = load(kFillSource, "fill");
    out = allocate(4000);
  }
  FillParams params(int n, int value) {
    return {{}, n, value, reinterpret_cast<int*>(out)};
  }
  Function fill;
  DevicePointer out;
};

TEST_F(LaunchTest, RunsKernels) {
  FillParams p = params(1000, 5);
  ASSERT_EQ(launch(fill, 3, 256, &p), kSuccess);
  // The argument was copied.
  p.value = 0;
  const auto got = read<int>(out, 1000);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(got[i], 5 + i);
}

TEST_F(LaunchTest, RefusesShapesThatNoDeviceTakes) {
  FillParams p = params(1, 0);
  void* arguments[] = {&p};
  const auto with = [&](unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared) {
    return api().launch(fill, gx, gy, gz, bx, by, bz, shared, stream, arguments,
                        nullptr);
  };
  const int64_t before = control().count().launches;
  EXPECT_EQ(with(0, 1, 1, 1, 1, 1, 0), kInvalidValue);
  EXPECT_EQ(with(1, 1, 1, 0, 1, 1, 0), kInvalidValue);
  EXPECT_EQ(with(1, 65536, 1, 1, 1, 1, 0), kInvalidValue);
  EXPECT_EQ(with(0x80000000u, 1, 1, 1, 1, 1, 0), kInvalidValue);
  EXPECT_EQ(with(1, 1, 1, 1, 1, 65, 0), kInvalidValue);
  EXPECT_EQ(with(1, 1, 1, 1025, 1, 1, 0), kInvalidValue);
  // More than SY_KERNEL says.
  EXPECT_EQ(with(1, 1, 1, 257, 1, 1, 0), kInvalidValue);
  EXPECT_EQ(with(1, 1, 1, 16, 17, 1, 0), kInvalidValue);
  EXPECT_EQ(with(1, 1, 1, 1, 1, 1, (48 << 10) + 1), kInvalidValue);
  EXPECT_EQ(control().count().launches, before);
}

TEST_F(LaunchTest, MoreSharedMemoryByOptingIn) {
  FillParams p = params(1, 0);
  EXPECT_EQ(launch(fill, 1, 32, &p, 100 << 10), kInvalidValue);
  EXPECT_EQ(api().function_set(fill, driver::kMaxDynamicShared, 228 << 10),
            kInvalidValue);
  ASSERT_EQ(api().function_set(fill, driver::kMaxDynamicShared, 100 << 10),
            kSuccess);
  int most = 0;
  ASSERT_EQ(api().function_attribute(&most, driver::kMaxDynamicShared, fill),
            kSuccess);
  EXPECT_EQ(most, 100 << 10);
  p = params(1, 0);
  EXPECT_EQ(launch(fill, 1, 32, &p, 100 << 10), kSuccess);
  EXPECT_EQ(api().stream_synchronize(stream), kSuccess);
}

TEST_F(LaunchTest, ArgumentsAsABuffer) {
  FillParams p = params(3, 7);
  p.head.started = reinterpret_cast<unsigned long long*>(allocate(8));
  size_t bytes = sizeof p;
  void* extra[] = {reinterpret_cast<void*>(1), &p, reinterpret_cast<void*>(2),
                   &bytes, nullptr};
  ASSERT_EQ(api().launch(fill, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, extra),
            kSuccess);
  EXPECT_EQ(read<int>(out, 3), (std::vector<int>{7, 8, 9}));
  bytes -= 8;
  EXPECT_EQ(api().launch(fill, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, extra),
            kInvalidValue);
  EXPECT_EQ(api().launch(fill, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr),
            kInvalidValue);
}

TEST_F(LaunchTest, RefusesOtherContextsAndUnknownHandles) {
  FillParams p = params(1, 0);
  driver::Stream other = nullptr;
  ASSERT_EQ(api().context_set(contexts[1]), kSuccess);
  ASSERT_EQ(api().stream_create(&other, driver::kNonBlocking, 0), kSuccess);
  // The kernel and the stream are of device 0.
  EXPECT_EQ(launch(fill, 1, 32, &p), kInvalidHandle);
  EXPECT_EQ(launch(fill, 1, 32, &p, 0, other), kInvalidHandle);
  ASSERT_EQ(api().context_set(nullptr), kSuccess);
  EXPECT_EQ(launch(fill, 1, 32, &p), kInvalidContext);
  ASSERT_EQ(api().context_set(contexts[0]), kSuccess);
  EXPECT_EQ(launch(fill, 1, 32, &p, 0, other), kInvalidHandle);
  EXPECT_EQ(launch(reinterpret_cast<Function>(&p), 1, 32, &p), kInvalidHandle);
  EXPECT_EQ(api().stream_destroy(other), kSuccess);
  EXPECT_EQ(launch(fill, 1, 32, &p, 0, other), kInvalidHandle);
  EXPECT_EQ(api().context_set(reinterpret_cast<driver::Context>(&p)),
            kInvalidContext);
}

TEST_F(LaunchTest, TheNthLaunchFails) {
  control().fail_launch(2, kLaunchOutOfResources);
  FillParams p = params(1, 1);
  EXPECT_EQ(launch(fill, 1, 32, &p), kSuccess);
  EXPECT_EQ(launch(fill, 1, 32, &p), kLaunchOutOfResources);
  EXPECT_EQ(launch(fill, 1, 32, &p), kSuccess);
  EXPECT_EQ(api().stream_synchronize(stream), kSuccess);
}

TEST_F(LaunchTest, FaultsStay) {
  control().fault_launch(2, kIllegalAddress);
  FillParams p = params(1, 1), q = params(1, 2);
  EXPECT_EQ(launch(fill, 1, 32, &p), kSuccess);
  EXPECT_EQ(launch(fill, 1, 32, &q), kSuccess);
  EXPECT_EQ(api().stream_synchronize(stream), kIllegalAddress);
  EXPECT_STREQ(control().last_fault(),
               "kernel 'fill': a fault that was asked for");
  DevicePointer none;
  driver::Event event;
  EXPECT_EQ(api().allocate(&none, 8), kIllegalAddress);
  EXPECT_EQ(api().event_create(&event, 0), kIllegalAddress);
  EXPECT_EQ(launch(fill, 1, 32, &p), kIllegalAddress);
  EXPECT_EQ(api().context_synchronize(), kIllegalAddress);
  // The other device goes on.
  ASSERT_EQ(api().context_set(contexts[1]), kSuccess);
  EXPECT_EQ(api().context_synchronize(), kSuccess);
  ASSERT_EQ(api().context_set(contexts[0]), kSuccess);
  control().heal();
  EXPECT_EQ(read<int>(out, 1), std::vector<int>{1});
}

TEST_F(LaunchTest, AccessesOutsideOfMemoryAreFaults) {
  // 4,000 bytes take 4,096.
  FillParams p = params(1024, 1);
  ASSERT_EQ(launch(fill, 1, 32, &p), kSuccess);
  ASSERT_EQ(api().stream_synchronize(stream), kSuccess);
  p = params(1025, 1);
  ASSERT_EQ(launch(fill, 1, 32, &p), kSuccess);
  ASSERT_EQ(api().stream_synchronize(stream), kIllegalAddress);
  EXPECT_EQ(
      std::string(control().last_fault())
          .find("kernel 'fill', block (0, 0, 0), thread (0, 0, 0): access to "
                "address 0x"),
      0u);
}

TEST_F(LaunchTest, BlocksStartWithJunkInSharedVariables) {
  const Function f = load(R"(
#include "kernel.cuh"
struct FillParams { LaunchHead head; int n; int value; int* out; };
SY_KERNEL(shared, FillParams, 32) {
  __shared__ int s;
  if (s == 0) p.out[0] = 1;
  __syncwarp();
  if (threadIdx.x == 0) s = p.value;
  __syncthreads();
  p.out[1 + threadIdx.x] = s;
})",
                          "shared");
  ASSERT_EQ(api().fill(out, 0, 4000, stream), kSuccess);
  FillParams p = params(0, 9);
  ASSERT_EQ(launch(f, 1, 32, &p), kSuccess);
  EXPECT_EQ(read<int>(out, 3), (std::vector<int>{0, 9, 9}));
}

TEST_F(LaunchTest, Counts) {
  const fake_cuda_counters before = control().count();
  FillParams p = params(1, 1);
  EXPECT_EQ(launch(fill, 5, 32, &p), kSuccess);
  read<int>(out, 1);
  const fake_cuda_counters after = control().count();
  EXPECT_EQ(after.launches - before.launches, 1);
  EXPECT_EQ(after.blocks - before.blocks, 5);
  EXPECT_EQ(after.copies_to_host - before.copies_to_host, 1);
  EXPECT_EQ(after.bytes_copied - before.bytes_copied, 4);
  EXPECT_EQ(after.contexts, 2);
}

}  // namespace
