#include <sy/cuda.h>

#include <optional>
#include <vector>

#include "backends/cuda/compile/images.h"
#include "backends/cuda/compile/own_source.h"
#include "test/backends/cuda/runtime_fixture.h"
#include "test/c10/expect_error.h"
#include "test/c10/with_environment.h"

// Kernels that a program compiles while it runs: sy::cuda::compile().

namespace sy::cuda {
namespace {

using namespace testing;

constexpr const char* kAxpy = R"(
// void axpy(int not_this) { }
extern "C" __global__ void __launch_bounds__(256)
axpy(int64_t n, float a, const float* __restrict__ x, float* y) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] += a * x[i];
})";

template <class T>
Tensor tensor_of(std::vector<T> values, ScalarType dtype, int index = 0) {
  const Tensor t(make_tensor({static_cast<int64_t>(values.size())}, dtype,
                             cuda_device(index)));
  device_interface(kCUDA).copy_from_host(t.raw_data(), values.data(),
                                         t.nbytes(), index);
  return t;
}
Tensor floats(std::vector<float> values, int index = 0) {
  return tensor_of(std::move(values), kFloat, index);
}
template <class T = float>
std::vector<T> values_of(const Tensor& t) {
  std::vector<T> out(static_cast<size_t>(t.numel()));
  device_interface(kCUDA).copy_to_host(out.data(), t.raw_data(), t.nbytes(),
                                       t.device().index());
  return out;
}

TEST(OwnKernel, TakesNumbersAndTensors) {
  const Kernel k = compile(kAxpy, "axpy");
  EXPECT_EQ(k.name(), "axpy");
  const Tensor x = floats({1, 2, 3}), y = floats({10, 20, 30});
  k.launch(1, 256, {3, 2, x, y});
  EXPECT_EQ(values_of(y), (std::vector<float>{12, 24, 36}));
  k.launch(1, 256, {2, 0.5, x, y});
  EXPECT_EQ(values_of(y), (std::vector<float>{12.5, 25, 36}));
  k.launch(0, 256, {3, 1, x, y});
  EXPECT_EQ(values_of(y), (std::vector<float>{12.5, 25, 36}));
}

TEST(OwnKernel, TakesEveryTypeOfNumber) {
  const Kernel k = compile(R"(
    void numbers(bool a, int8_t b, unsigned char c, short d, uint32_t e, int f,
                 long long g, unsigned long h, float i, double j, double* out,
                 const void* none) {
      out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f;
      out[6] = g; out[7] = h; out[8] = i; out[9] = j;
      out[10] = none == nullptr;
    })",
                           "numbers");
  const Tensor out = tensor_of(std::vector<double>(11), kDouble);
  k.launch(1, 1,
           {true, -128, 255, -32768, 4294967295, -7, int64_t{1} << 40, 9, 0.5f,
            0.1, out, Tensor()});
  EXPECT_EQ(values_of<double>(out),
            (std::vector<double>{1, -128, 255, -32768, 4294967295, -7,
                                 double(int64_t{1} << 40), 9, 0.5, 0.1, 1}));
}

TEST(OwnKernel, HasGridsOfThreeDimsAndSharedMemory) {
  const Kernel k = compile(R"(
    __global__ void places(int* out) {
      __shared__ int fixed[8];
      int* const given = reinterpret_cast<int*>(dynamic_shared());
      const int t = threadIdx.x + 2 * (threadIdx.y + 2 * threadIdx.z);
      const int b = blockIdx.x + 2 * (blockIdx.y + 3 * blockIdx.z);
      fixed[t] = b;
      given[t] = t;
      __syncthreads();
      out[8 * b + t] = 100 * fixed[7 - t] + given[7 - t];
    })",
                           "places");
  const Tensor out = tensor_of(std::vector<int>(96), kInt);
  k.launch({2, 3, 2}, {2, 2, 2}, {out}, 32);
  const std::vector<int> got = values_of<int>(out);
  for (int i = 0; i < 96; ++i) {
    ASSERT_EQ(got[static_cast<size_t>(i)], 100 * (i / 8) + 7 - i % 8);
  }
}

TEST(OwnKernel, ElementsOf16Bits) {
  const Kernel k = compile(R"(
    #include "element.cuh"
    __global__ void widen(const half16* x, float* y) {
      y[threadIdx.x] = to_float(x[threadIdx.x]);
    })",
                           "widen");
  const Tensor x = tensor_of(std::vector<uint16_t>{0x3c00, 0xc000}, kHalf);
  const Tensor y = floats({0, 0});
  k.launch(1, 2, {x, y});
  EXPECT_EQ(values_of(y), (std::vector<float>{1, -2}));
}

TEST(OwnKernel, IsCompiledOnceAndKept) {
  const bool again = std::getenv("SWITCHYARD_TEST_OWN_PROCESS") != nullptr;
  const std::string source = "void once(int* x) { *x = 7; }";
  const CompileCounters before = compile_counters();
  compile(source, "once");
  const CompileCounters after = compile_counters();
  EXPECT_EQ(after.units - before.units, again ? 0 : 1);
  EXPECT_EQ(after.kept - before.kept, again ? 1 : 0);
  compile(source, "once");
  EXPECT_EQ(compile_counters().units, after.units);
  EXPECT_EQ(compile_counters().kept, after.kept);
  // Another process finds it in the folder.
  with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1");
}

TEST(OwnKernel, WhatDoesNotCompileIsATypedErrorWithLines) {
  const char* const source = R"(__global__ void wrong(int* x) {
  *x = 1;
  *x = no_such_name;
})";
  try {
    compile(source, "wrong");
    FAIL() << "it compiled";
  } catch (const CompileError& e) {
    EXPECT_EQ(e.message().find("[cuda.compile] wrong does not compile:\n"), 0u);
    EXPECT_NE(e.log().find("wrong.cu:3:"), std::string::npos) << e.log();
    EXPECT_NE(e.log().find("no_such_name"), std::string::npos) << e.log();
  }
  // A mended text of the same name is another kernel.
  const Kernel k = compile("void wrong(int* x) { *x = 1; }", "wrong");
  const Tensor x = tensor_of(std::vector<int>{0}, kInt);
  k.launch(1, 1, {x});
  EXPECT_EQ(values_of<int>(x), std::vector<int>{1});
}

TEST(OwnKernel, TextsWithoutSuchAFunctionAreRefused) {
  SY_EXPECT_ERROR(compile(kAxpy, "saxpy"), ValueError,
                  "[cuda.compile] name: expected a function 'void saxpy(...) "
                  "{' in the source, found none");
  SY_EXPECT_ERROR(compile("void f(int);", "f"), ValueError, "found none");
  SY_EXPECT_ERROR(compile("/* void f() {} */", "f"), ValueError, "found none");
  SY_EXPECT_ERROR(compile("int f() { return 1; }", "f"), ValueError,
                  "found none");
  SY_EXPECT_ERROR(compile("void g() { f(1); }", "f"), ValueError, "found none");
  SY_EXPECT_ERROR(compile(kAxpy, ""), ValueError,
                  "expected the name of a function, got ''");
  SY_EXPECT_ERROR(compile(kAxpy, "a b"), ValueError, "got 'a b'");
  SY_EXPECT_ERROR(compile("template <class T> void f(T* x) {}", "f"),
                  ValueError, "expected a function that is no template, got f");
  SY_EXPECT_ERROR(compile("void f(float** x) {}", "f"), ValueError,
                  "[cuda.compile] f: expected parameters that are numbers or "
                  "pointers to elements of tensors, got 'float** x'");
  SY_EXPECT_ERROR(compile("void f(int a, MyType b) {}", "f"), ValueError,
                  "got 'MyType b': its type is not known");
  SY_EXPECT_ERROR(compile("void f(int a[4]) {}", "f"), ValueError,
                  "got 'int a[4]'");
  SY_EXPECT_ERROR(compile("void f(int a = 4) {}", "f"), ValueError,
                  "got 'int a = 4'");
  SY_EXPECT_ERROR(compile("void f(half16 a) {}", "f"), ValueError,
                  "its type is not known");
}

TEST(OwnKernel, ParametersAreReadFromTheText) {
  const OwnSource s = read_own_source(
      "static const char* t = \"void f(bool b) {\";\n"
      "struct P { void g() {} };  // f(\n"
      "__global__ void __launch_bounds__(128, 2) f(unsigned n, const\n"
      "  volatile double* __restrict__ x, long, half16 * /* , */ h, void*)\n"
      "{}",
      "f");
  EXPECT_EQ(s.threads, 128u);
  ASSERT_EQ(s.parameters.size(), 5u);
  EXPECT_EQ(s.parameters[0].type, "unsigned");
  EXPECT_EQ(s.parameters[0].offset, 24u);
  EXPECT_EQ(s.parameters[1].type, "const double*");
  EXPECT_EQ(s.parameters[1].offset, 32u);
  EXPECT_TRUE(s.parameters[1].is_const);
  EXPECT_EQ(s.parameters[1].element, ScalarType::Double);
  EXPECT_EQ(s.parameters[2].name, "argument 3");
  EXPECT_EQ(s.parameters[3].name, "h");
  EXPECT_EQ(s.parameters[3].element, ScalarType::Half);
  EXPECT_FALSE(s.parameters[4].element.has_value());
  EXPECT_EQ(s.params_bytes, 64u);
  EXPECT_TRUE(read_own_source("void f() {}", "f").parameters.empty());
  EXPECT_TRUE(read_own_source("void f(void) {}", "f").parameters.empty());
}

TEST(OwnKernel, ArgumentsAreChecked) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Kernel k = compile(kAxpy, "axpy");
  const Tensor x = floats({1}), y = floats({2});
  SY_EXPECT_ERROR(k.launch(1, 1, {1, 1, x}), ValueError,
                  "[axpy] expected 4 arguments (n, a, x, y), got 3");
  SY_EXPECT_ERROR(k.launch(1, 1, {1, 1, x, 3}), ValueError,
                  "[axpy] y: expected a tensor, got a number");
  SY_EXPECT_ERROR(k.launch(1, 1, {x, 1, x, y}), ValueError,
                  "[axpy] n: expected a number for int64_t, got a tensor");
  SY_EXPECT_ERROR(
      k.launch(1, 1, {1.5, 1, x, y}), ValueError,
      "[axpy] n: expected an integer, got a number with a fraction");
  const Tensor other = tensor_of(std::vector<int>{1}, kInt);
  SY_EXPECT_ERROR(
      k.launch(1, 1, {1, 1, other, y}), TypeError,
      "[axpy] x: expected a tensor of float32 for const float*, got "
      "int32");
  const Tensor host(make_tensor({1}, kFloat, Device(kCPU)));
  SY_EXPECT_ERROR(k.launch(1, 1, {1, 1, x, host}), ValueError,
                  "[axpy] y: expected a tensor on cuda:0, got one on cpu");
  const Tensor there = floats({1}, 1);
  SY_EXPECT_ERROR(k.launch(1, 1, {1, 1, x, there}), ValueError,
                  "[axpy] y: expected a tensor on cuda:0, got one on cuda:1");
  SY_EXPECT_ERROR(k.launch(-1, 1, {1, 1, x, y}), ValueError,
                  "[axpy] grid: expected a value in [0, 2147483647], got -1");
  SY_EXPECT_ERROR(k.launch(1, {1, int64_t{1} << 40}, {1, 1, x, y}), ValueError,
                  "[axpy] block: expected a value");
  SY_EXPECT_ERROR(k.launch(1, 257, {1, 1, x, y}), Error,
                  "kernel axpy did not start: CUDA_ERROR_INVALID_VALUE");
  const Kernel small =
      compile("void small(int8_t n, uint8_t m, bool b) {}", "small");
  SY_EXPECT_ERROR(small.launch(1, 1, {128, 0, 0}), ValueError,
                  "[small] n: expected a value of int8_t, got 128");
  SY_EXPECT_ERROR(small.launch(1, 1, {-129, 0, 0}), ValueError, "got -129");
  SY_EXPECT_ERROR(small.launch(1, 1, {0, 256, 0}), ValueError, "got 256");
  SY_EXPECT_ERROR(small.launch(1, 1, {0, -1, 0}), ValueError, "got -1");
  SY_EXPECT_ERROR(small.launch(1, 1, {0, 0, 2}), ValueError, "got 2");
  sy::synchronize(cuda_device(0));
  EXPECT_EQ(values_of(y), std::vector<float>{2});
}

TEST(OwnKernel, RunsOnTheDeviceOfItsTensors) {
  if (!with_environment("FAKE_CUDA_DEVICES", "2")) return;
  const Kernel k = compile(kAxpy, "axpy");  // for device 0
  const Tensor x = floats({1}, 1), y = floats({2}, 1);
  k.launch(1, 32, {1, 3, x, y});
  EXPECT_EQ(values_of(y), std::vector<float>{5});
  EXPECT_EQ(cuda::current_device(), 0);
}

// Freed memory of another stream waits for the kernel.
TEST(OwnKernel, RunsInTheCurrentStreamAndUsesItsTensors) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const Kernel k = compile(kAxpy, "axpy");
  const Tensor x = floats({1});
  std::optional<Tensor> y = floats({2});
  const Stream side = Stream::make(cuda_device(0));
  const void* const place = y->raw_data();
  const uint32_t version = y->impl()->version();
  const uint32_t of_x = x.impl()->version();
  sy::synchronize(cuda_device(0));
  {
    const Paused paused;
    {
      const StreamGuard guard(side);
      k.launch(1, 32, {1, 3, x, *y});
    }
    EXPECT_EQ(last_ticket(side.id()), 1u);
    EXPECT_GT(y->impl()->version(), version);
    EXPECT_EQ(x.impl()->version(), of_x);
    y.reset();
    const Tensor next(make_tensor({1}, kFloat, cuda_device(0)));
    EXPECT_NE(next.raw_data(), place);
  }
  side.synchronize();
}

TEST(OwnKernel, FaultsNameIt) {
  if (!with_environment("SWITCHYARD_TEST_OWN_PROCESS", "1")) return;
  const Kernel k = compile(kAxpy, "axpy");
  const Tensor x = floats({1, 2}), y = floats({3, 4});
  const AsOperator op("aten::gather");
  k.launch(1, 32, {2, 1, x, y});
  sy::synchronize(cuda_device(0));
  fake().fault_launch(1, driver::kIllegalAddress);
  k.launch(1, 256, {2, 1, x, y});
  k.launch(1, 32, {2, 1, x, y});
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), Error,
                  "[aten::gather] cuda:0: CUDA_ERROR");
  SY_EXPECT_ERROR(sy::synchronize(cuda_device(0)), Error,
                  "launch 4 of stream 0, kernel axpy, grid 1 x 1 x 1 of 256 "
                  "threads, float32[2]");
}

TEST(OwnKernel, WithoutADriverItSaysWhatIsMissing) {
  if (!with_environment("SWITCHYARD_CUDA_DRIVER", "/nowhere/libcuda.so.1")) {
    return;
  }
  SY_EXPECT_ERROR(compile(kAxpy, "axpy"), Error, "/nowhere/libcuda.so.1");
}

TEST(OwnKernel, WithoutACompilerItSaysWhatIsMissing) {
  if (!with_environment("SWITCHYARD_NVRTC", "/nowhere/libnvrtc.so.13")) return;
  SY_EXPECT_ERROR(compile("void rare(int) { /* no cache has it */ }", "rare"),
                  Error, "[cuda.compile] cannot compile rare: ");
}

}  // namespace
}  // namespace sy::cuda
