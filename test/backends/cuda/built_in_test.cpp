#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/compile/pack.h"
#include "backends/cuda/compile/unit.h"
#include "backends/cuda/engine/interpret.h"
#include "c10/process/error.h"
#include "test/backends/cuda/fake/fake_cuda_control.h"
#include "test/c10/with_environment.h"

// Kernels inside the library: this program holds those of testdata/inside.txt.
// The fake driver runs no image for GPUs, but says which it was given.

namespace sy::cuda {
namespace {

template <class F>
F* fake(const char* name) {
  void* const driver = dlopen(std::getenv("SWITCHYARD_CUDA_DRIVER"), RTLD_NOW);
  return reinterpret_cast<F*>(dlsym(driver, name));
}

int64_t count_refused() {
  fake_cuda_counters c;
  fake<decltype(fake_cuda_count)>("fake_cuda_count")(&c);
  return c.refused_images;
}
std::string refused_image() {
  return fake<decltype(fake_cuda_refused_image)>("fake_cuda_refused_image")();
}

// Whether there are kernels: the machine that built this may have had no NVRTC.
bool has_kernels() {
  const std::string said = describe_built_in();
  if (said == "9 for sm_80, sm_90, compute_90") return true;
  EXPECT_EQ(said, "none: there was no NVRTC when the library was built");
  EXPECT_EQ(why_not_built_in(90),
            "there was no NVRTC when the library was built");
  return false;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.message();
  }
  return "none";
}

class CudaBuiltIn : public testing::Test {
 protected:
  // Asks on a device of the capability, without a compiler.
  void expect_asked(const char* capability, const std::string& image,
                    const std::string& error) {
    if (!with_environment("FAKE_CUDA_CAPABILITY", capability)) return;
    setenv("SWITCHYARD_NVRTC", "/nowhere/libnvrtc.so", 1);
    if (!has_kernels()) GTEST_SKIP() << "built without NVRTC";
    const std::string said =
        error_of([] { interpreter(0, program::ComputeType::i32, false); });
    EXPECT_NE(said.find("interpret: cannot compile engine/interpret.cu with "),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("/nowhere/libnvrtc.so"), std::string::npos) << said;
    EXPECT_TRUE(said.ends_with("; " + error)) << said;
    EXPECT_EQ(refused_image(), image);
    // The driver is not asked again for an image that it refused once.
    const int64_t asked = image.empty() ? 0 : 1;
    EXPECT_EQ(count_refused(), asked);
    error_of([] { kernel(0, "factory.cu", "fill_items", {{"SY_ITEM", "4"}}); });
    EXPECT_EQ(count_refused(), asked);
  }
};

constexpr char kRefused[] =
    "the driver, for CUDA 13.0, refuses the kernels in the library";

TEST_F(CudaBuiltIn, AnA100IsGivenItsCubin) {
  expect_asked("8.0", "cubin for sm_80", kRefused);
}
TEST_F(CudaBuiltIn, AMinorVersionIsGivenTheCubinOfTheMajorOne) {
  expect_asked("8.6", "cubin for sm_80", kRefused);
}
TEST_F(CudaBuiltIn, AnH100IsGivenItsCubin) {
  expect_asked("9.0", "cubin for sm_90", kRefused);
}
TEST_F(CudaBuiltIn, ANewerDeviceIsGivenPtx) {
  expect_asked("10.0", "PTX for sm_90", kRefused);
}
TEST_F(CudaBuiltIn, AnOlderDeviceIsGivenNothingAndTheReasonIsTold) {
  expect_asked("7.5", "",
               "the kernels in the library are for sm_80, sm_90, compute_90, "
               "the device is sm_75");
}

TEST_F(CudaBuiltIn, WhatTheDriverRefusesIsCompiledWithoutAWord) {
  if (!with_environment("FAKE_CUDA_CAPABILITY", "9.0")) return;
  if (!has_kernels()) GTEST_SKIP() << "built without NVRTC";
  testing::internal::CaptureStderr();
  for (const char* const size : {"4", "8"}) {
    const Define defines[] = {{"SY_ITEM", size}};
    EXPECT_NE(kernel(0, "factory.cu", "fill_items", defines).handle, nullptr);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(count_refused(), 1);
  EXPECT_EQ(refused_image(), "cubin for sm_90");
}

TEST_F(CudaBuiltIn, EveryKernelOfTheListIsThere) {
  if (!has_kernels()) GTEST_SKIP() << "built without NVRTC";
  for (const int architecture : {80, 86, 89, 90, 100, 120}) {
    for (const char* const size : {"4", "8"}) {
      const Define defines[] = {{"SY_ITEM", size}};
      Image image;
      EXPECT_TRUE(find_built_in(key_of(carried_unit("factory.cu", defines)),
                                architecture, &image));
      EXPECT_EQ(hash_of(image.bytes), image.id);
    }
    EXPECT_EQ(why_not_built_in(architecture), "");
  }
  Image image;
  EXPECT_FALSE(find_built_in(hash_of("another"), 90, &image));
}

}  // namespace
}  // namespace sy::cuda
