#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/cuda/device/launch_head.cuh"
#include "backends/cuda/driver/api.h"
#include "test/backends/cuda/fake/control.h"

// The fake driver and the fake NVRTC, used by their C interfaces alone.

namespace fake_cuda {

namespace driver = sy::cuda::driver;
using driver::DevicePointer;

// Opened on the first call, with two devices and cuInit called.
const driver::Api& api();

struct Compilation {
  int result;
  std::string log;
  std::vector<char> cubin;
};
// The source may include kernel.cuh.
Compilation compile(const std::string& source,
                    std::vector<std::string> options = {
                        "--gpu-architecture=sm_90", "--fmad=false"});

// Begins each test with the context of device 0 current, and a stream.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  driver::Function load(const std::string& source, const char* name);
  int launch(driver::Function f, unsigned blocks, unsigned threads,
             void* params, unsigned shared = 0, driver::Stream on = nullptr);
  DevicePointer allocate(size_t bytes);
  template <class T>
  std::vector<T> read(DevicePointer from, size_t n) {
    std::vector<T> out(n);
    EXPECT_EQ(api().copy_to_host(out.data(), from, n * sizeof(T), stream),
              driver::kSuccess);
    return out;
  }

  driver::Context contexts[2] = {};
  driver::Stream stream = nullptr;
};

// Kernels of the tests: `fill` writes value + i, `touch` writes to an address.
struct FillParams {
  sy::cuda::LaunchHead head;
  int n;
  int value;
  int* out;
};
extern const char* const kFillSource;

}  // namespace fake_cuda
