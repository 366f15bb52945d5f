#include <cstdlib>
#include <cstring>

#include "test/backends/cuda/fake/driver_fixture.h"

namespace {

using namespace fake_cuda;
using enum driver::Result;

class ModuleTest : public DriverTest {};

TEST_F(ModuleTest, ErrorsAreInTheLog) {
  const Compilation c = compile("#include \"kernel.cuh\"\nint x = nonsense;\n");
  EXPECT_EQ(c.result, 6);
  EXPECT_NE(c.log.find("tested.cu:2"), std::string::npos) << c.log;
  EXPECT_NE(c.log.find("nonsense"), std::string::npos) << c.log;
}

TEST_F(ModuleTest, OptionsAreNvrtcsOwn) {
  const std::string source =
      "#include \"kernel.cuh\"\n#ifndef X\n#error no X\n"
      "#endif\nstatic_assert(X == 3);\n";
  const auto with = [&](std::vector<std::string> options) {
    return compile(source, options).result;
  };
  EXPECT_EQ(with({"-DX=3"}), 0);
  EXPECT_EQ(with({"-D", "X=3", "--minimal", "-default-device"}), 0);
  EXPECT_EQ(with({"--define-macro=X=3", "--std=c++17", "-arch=sm_80"}), 0);
  EXPECT_EQ(with({"-DX=4"}), 6);
  EXPECT_EQ(with({}), 6);
  EXPECT_EQ(with({"-DX=3", "-O2"}), 5);
  EXPECT_EQ(with({"-DX=3", "--gpu-architecture=gfx90"}), 5);
  EXPECT_EQ(with({"-DX=3", "--fmad=maybe"}), 5);
  // No cubin for what is no real device.
  EXPECT_TRUE(compile(source, {"-DX=3", "-arch=compute_80"}).cubin.empty());
  EXPECT_FALSE(compile(source, {"-DX=3", "-arch=sm_80"}).cubin.empty());
}

TEST_F(ModuleTest, FmadSaysWhetherProductsAreFused) {
  const std::string source = R"(
#include "kernel.cuh"
struct Params { LaunchHead head; int n; int value; float* out; };
SY_KERNEL(product, Params, 32) {
  if (threadIdx.x == 0) p.out[1] = p.out[0] * p.out[0] + -1.0f;
})";
  const DevicePointer out = allocate(8);
  for (const bool fused : {false, true}) {
    const Compilation c = compile(
        source, {"-arch=sm_90", fused ? "--fmad=true" : "--fmad=false"});
    ASSERT_EQ(c.result, 0) << c.log;
    driver::Module module;
    driver::Function f;
    ASSERT_EQ(api().module_load(&module, c.cubin.data()), kSuccess);
    ASSERT_EQ(api().module_function(&f, module, "product"), kSuccess);
    const float one = 1 + 0x1p-23f;
    ASSERT_EQ(api().copy_from_host(out, &one, 4, stream), kSuccess);
    FillParams p{{}, 0, 0, reinterpret_cast<int*>(out)};
    ASSERT_EQ(launch(f, 1, 32, &p), kSuccess);
    EXPECT_EQ(read<float>(out + 4, 1)[0],
              fused ? 0x1p-22f + 0x1p-46f : 0x1p-22f);
    EXPECT_EQ(api().module_unload(module), kSuccess);
  }
}

TEST_F(ModuleTest, ImagesForOthersAreRefused) {
  driver::Module module;
  const auto load_image = [&](const void* image) {
    return api().module_load(&module, image);
  };
  const unsigned fatbin[] = {0xba55ed50, 0, 0, 0};
  EXPECT_EQ(load_image(fatbin), kNoBinaryForGpu);
  unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33};
  cubin[18] = 190;
  EXPECT_EQ(load_image(cubin), kNoBinaryForGpu);
  EXPECT_EQ(load_image("//\n.version 9.0\n.target sm_90\n"),
            kUnsupportedPtxVersion);
  EXPECT_STREQ(fake_cuda::control().refused_image(), "PTX for sm_90");
  EXPECT_EQ(load_image("something else entirely"), kInvalidImage);
  EXPECT_EQ(load_image(nullptr), kInvalidValue);
  // Compute capability 9.0 runs 9.0 and older minor versions only.
  const std::string source = "#include \"kernel.cuh\"\n";
  EXPECT_EQ(load_image(compile(source, {"-arch=sm_80"}).cubin.data()),
            kNoBinaryForGpu);
  EXPECT_EQ(load_image(compile(source, {"-arch=sm_100"}).cubin.data()),
            kNoBinaryForGpu);
  ASSERT_EQ(load_image(compile(source, {"-arch=sm_90"}).cubin.data()),
            kSuccess);
  driver::Function f;
  EXPECT_EQ(api().module_function(&f, module, "missing"), kNotFound);
  EXPECT_EQ(api().module_unload(module), kSuccess);
  EXPECT_EQ(api().module_unload(module), kInvalidHandle);
}

TEST_F(ModuleTest, ModulesOfOneImageHaveVariablesOfTheirOwn) {
  const Compilation c = compile(R"(
#include "kernel.cuh"
struct Params { LaunchHead head; int n; int value; int* out; };
__device__ int calls;
SY_KERNEL(next, Params, 32) {
  if (threadIdx.x == 0) p.out[0] = ++calls;
})");
  ASSERT_EQ(c.result, 0) << c.log;
  const DevicePointer out = allocate(4);
  for (int i = 0; i < 2; ++i) {
    driver::Module module;
    driver::Function f;
    ASSERT_EQ(api().module_load(&module, c.cubin.data()), kSuccess);
    ASSERT_EQ(api().module_function(&f, module, "next"), kSuccess);
    FillParams p{{}, 0, 0, reinterpret_cast<int*>(out)};
    for (int call = 1; call < 3; ++call) {
      ASSERT_EQ(launch(f, 1, 32, &p), kSuccess);
      EXPECT_EQ(read<int>(out, 1), std::vector<int>{call});
    }
  }
}

TEST_F(ModuleTest, NamesOfErrors) {
  const char* text;
  ASSERT_EQ(api().error_name(kIllegalAddress, &text), kSuccess);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  ASSERT_EQ(api().error_string(kOutOfMemory, &text), kSuccess);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(api().error_name(12345, &text), kInvalidValue);
  EXPECT_EQ(text, nullptr);
}

TEST_F(ModuleTest, Devices) {
  int n = 0, value = 0;
  ASSERT_EQ(api().device_count(&n), kSuccess);
  EXPECT_EQ(n, 2);
  EXPECT_EQ(api().device_get(&n, 2), kInvalidDevice);
  ASSERT_EQ(api().device_attribute(&value, driver::kComputeMajor, 1), kSuccess);
  EXPECT_EQ(value, 9);
  ASSERT_EQ(api().device_attribute(&value, driver::kVirtualMemory, 1),
            kSuccess);
  EXPECT_EQ(value, 1);
  char name[8];
  ASSERT_EQ(api().device_name(name, sizeof name, 0), kSuccess);
  EXPECT_STREQ(name, "Fake CU");
}

}  // namespace
