#include <gtest/gtest.h>
#include <sy/cuda.h>

#include <thread>

#include "c10/process/error.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

// <sy/cuda.h>, as programs use it.

namespace sy {
namespace {

Tensor made(int64_t bytes, int index = 0) {
  return Tensor(
      make_tensor({bytes}, kByte, Device(kCUDA, static_cast<int8_t>(index))));
}

TEST(Door, SaysWhetherThereIsADevice) {
  EXPECT_TRUE(cuda::is_available());
  EXPECT_EQ(cuda::device_count(), 1);
  EXPECT_EQ(cuda::why_unavailable(), "");
}

TEST(Door, SaysWhyThereIsNone) {
  if (!with_environment("SWITCHYARD_CUDA_DRIVER", "/nowhere/libcuda.so.1")) {
    return;
  }
  EXPECT_FALSE(cuda::is_available());
  EXPECT_NE(cuda::why_unavailable().find("/nowhere/libcuda.so.1"),
            std::string::npos);
  cuda::empty_cache();
  constexpr const char* kText =
      "there is no 'cuda' device in this machine: [cuda] there is no driver: ";
  SY_EXPECT_ERROR(cuda::synchronize(), ValueError, kText);
  const Tensor on_cpu(make_tensor({2}, kByte, Device(kCPU)));
  SY_EXPECT_ERROR(on_cpu.cuda(), ValueError, kText);
}

TEST(Door, TellsOfMemory) {
  const int64_t before = cuda::memory_allocated();
  cuda::reset_peak_memory_stats();
  {
    const Tensor t = made(int64_t{8} << 20);
    EXPECT_EQ(cuda::memory_allocated() - before, int64_t{8} << 20);
    EXPECT_GE(cuda::memory_reserved(), cuda::memory_allocated());
  }
  EXPECT_EQ(cuda::memory_allocated(), before);
  EXPECT_GE(cuda::max_memory_allocated(), before + (int64_t{8} << 20));
  cuda::synchronize();
  cuda::empty_cache();
  EXPECT_LT(cuda::memory_reserved() - before, int64_t{8} << 20);
}

TEST(Door, LimitsMemory) {
  cuda::set_memory_limit(int64_t{64} << 20);
  EXPECT_THROW(made(int64_t{256} << 20), OutOfMemoryError);
  cuda::set_memory_limit(0);
  made(int64_t{256} << 20);
}

TEST(Door, GuardsSetDeviceAndStream) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  EXPECT_EQ(cuda::current_device(), 0);
  {
    const cuda::DeviceGuard guard(1);
    EXPECT_EQ(cuda::current_device(), 1);
    EXPECT_EQ(made(1, 1).device().index(), 1);
  }
  EXPECT_EQ(cuda::current_device(), 0);
  SY_EXPECT_ERROR(cuda::set_device(2), ValueError, "[0, 1]");
  const Stream s = Stream::make(Device(kCUDA, 1));
  const cuda::StreamGuard guard(s);
  EXPECT_EQ(cuda::current_device(), 1);
  EXPECT_EQ(cuda::native_stream(), s.native_handle());
}

TEST(Door, NativeStreamsDiffer) {
  void* const first = cuda::native_stream();
  EXPECT_NE(first, nullptr);
  const Stream s = Stream::make(Device(kCUDA));
  const cuda::StreamGuard guard(s);
  EXPECT_NE(cuda::native_stream(), first);
}

TEST(Door, KernelsOfOthersAreNoted) {
  StreamInterface& streams = *device_interface(kCUDA).streams();
  const Tensor t = made(1000);
  const Stream s = Stream::make(Device(kCUDA));
  const cuda::StreamGuard guard(s);
  const uint64_t before = streams.last_ticket(0, s.id());
  cuda::note_kernels({t, Tensor()});
  EXPECT_EQ(streams.last_ticket(0, s.id()), before + 1);
  s.synchronize();
  EXPECT_EQ(streams.completed_ticket(0, s.id()), before + 1);
}

}  // namespace
}  // namespace sy
