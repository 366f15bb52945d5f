#include <cstdio>
#include <cstdlib>

#include "test/backends/cuda/fake/driver_fixture.h"

// The settings of the environment. The library reads them once, so each case is
// a process.

namespace {

using namespace fake_cuda;
using enum driver::Result;

// Runs `body` in a process that has the variables; it returns whether all was
// well.
template <class F>
void expect_in_process(
    std::vector<std::pair<const char*, const char*>> variables, F body) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        for (const auto& [name, value] : variables) setenv(name, value, 1);
        _exit(body() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

bool use_device(int device = 0) {
  driver::Context c;
  return api().primary_retain(&c, device) == kSuccess &&
         api().context_set(c) == kSuccess;
}

// The outcome of a kernel that writes 5 to pinned memory; -1 if it was not
// started.
struct Launched {
  int result = -1;
  int written = 0;
};
Launched launch_once(const char* architecture = "sm_90") {
  Launched out;
  const Compilation c = compile(
      kFillSource,
      {"--fmad=false", std::string("--gpu-architecture=") + architecture});
  driver::Module module;
  driver::Function f;
  if (api().module_load(&module, c.cubin.data()) != kSuccess ||
      api().module_function(&f, module, "fill") != kSuccess) {
    return out;
  }
  void* host;
  if (api().host_allocate(&host, 64, 0) != kSuccess) return out;
  FillParams p{{}, 1, 5, static_cast<int*>(host) + 8};
  p.head.started = static_cast<unsigned long long*>(host);
  p.out[0] = 0;
  void* arguments[] = {&p};
  out.result =
      api().launch(f, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
  out.written = *p.out;
  return out;
}

TEST(Environment, WorkWithinTheCall) {
  expect_in_process({{"FAKE_CUDA_SYNC", "1"}}, [] {
    if (!use_device()) return false;
    const Launched l = launch_once();
    return l.result == kSuccess && l.written == 5;
  });
}

TEST(Environment, DevicesAndMemory) {
  expect_in_process(
      {{"FAKE_CUDA_DEVICES", "3"}, {"FAKE_CUDA_MEMORY", "64M"}}, [] {
        int n = 0;
        size_t bytes = 0;
        DevicePointer p;
        return api().device_count(&n) == kSuccess && n == 3 && use_device(2) &&
               api().device_memory(&bytes, 2) == kSuccess &&
               bytes == size_t{64} << 20 &&
               api().allocate(&p, size_t{65} << 20) == kOutOfMemory &&
               api().allocate(&p, size_t{64} << 20) == kSuccess &&
               api().allocate(&p, 1) == kOutOfMemory;
      });
}

TEST(Environment, Capability) {
  expect_in_process({{"FAKE_CUDA_CAPABILITY", "8.6"}}, [] {
    int major = 0, minor = 0;
    return use_device() &&
           api().device_attribute(&major, driver::kComputeMajor, 0) ==
               kSuccess &&
           api().device_attribute(&minor, driver::kComputeMinor, 0) ==
               kSuccess &&
           major == 8 && minor == 6 &&
           launch_once("sm_80").result == kSuccess &&
           launch_once("sm_86").result == kSuccess &&
           launch_once("sm_90").result == -1;
  });
}

TEST(Environment, Failures) {
  expect_in_process({{"FAKE_CUDA_FAIL_LAUNCH", "2:701"},
                     {"FAKE_CUDA_FAULT_LAUNCH", "2"},
                     {"FAKE_CUDA_FAIL_ALLOCATE", "1"}},
                    [] {
                      DevicePointer p;
                      return use_device() &&
                             api().allocate(&p, 8) == kOutOfMemory &&
                             api().allocate(&p, 8) == kSuccess &&
                             launch_once().result == kSuccess &&
                             launch_once().result == kLaunchOutOfResources &&
                             api().context_synchronize() == kSuccess &&
                             launch_once().result == kSuccess &&
                             api().context_synchronize() == kIllegalAddress;
                    });
}

TEST(Environment, AWrongValueIsNamed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        setenv("FAKE_CUDA_MEMORY", "much", 1);
        api();
      },
      "FAKE_CUDA_MEMORY: expected a size such as 512M, got much");
}

}  // namespace
