#include "backends/pjrt/client.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <tuple>

#include "backends/pjrt/ffi.h"
#include "c10/process/error.h"
#include "test/c10/expect_error.h"

// Programs, kernels, errors and memory of the client. Without a PJRT plugin of
// the CPU, whose path is SWITCHYARD_PJRT_PLUGIN, most tests are skipped.

namespace sy::pjrt {
namespace {

using Inputs = ArrayRef<const void*>;
using Outputs = ArrayRef<void*>;
using Floats = std::vector<float>;
using Shapes = std::vector<Shape>;
using Program = std::unique_ptr<Executable>;

const Shape kFour{kFloat, {4}}, kEight{kFloat, {8}};

// Aligned memory with these elements.
Storage storage_of(const Floats& values) {
  const size_t bytes = values.size() * sizeof(float);
  Storage s = StorageImpl::allocate(bytes, Device(kCPU));
  std::memcpy(s->data(), values.data(), bytes);
  return s;
}

template <class T = float>
std::vector<T> elements(const Storage& s) {
  const T* const first = static_cast<const T*>(s->data());
  return std::vector<T>(first, first + s->nbytes() / sizeof(T));
}

Floats count_to(size_t n) {
  Floats values(n);
  std::iota(values.begin(), values.end(), 1.f);
  return values;
}

std::vector<Storage> run(Executable& executable, Inputs inputs) {
  std::vector<Storage> outputs(executable.outputs().size());
  executable.run(inputs, outputs.data());
  return outputs;
}

// Lines before a program, which names a type !v and a kernel #k.
std::string type(const std::string& v) { return str("!v = tensor<{}>\n", v); }
std::string kernel(const KernelId& k) {
  return str("#k = {{id = {} : i64}}\n", k.number());
}

bool denormals_live() {
  volatile float tiny = std::numeric_limits<float>::denorm_min();
  return tiny * 2 != 0;
}

class PjrtClient : public testing::Test {
 protected:
  void SetUp() override {
    const char* const path = std::getenv("SWITCHYARD_PJRT_PLUGIN");
    if (path == nullptr) {
      GTEST_SKIP() << "SWITCHYARD_PJRT_PLUGIN names no PJRT plugin";
    }
    client_ = &Client::open(path);
    EXPECT_EQ(&Client::open(path), client_);
  }

  Program compile(const Shapes& inputs, const Shapes& outputs,
                  const std::string& text,
                  ArrayRef<Donation> donations = {}) const {
    return client_->compile(text, inputs, outputs, donations);
  }

  // The sum and the product of two inputs.
  Program arithmetic(const Shapes& inputs, const Shapes& outputs) const {
    return compile(inputs, outputs, type("4xf32") + R"(
func.func @main(%a: !v, %b: !v) -> (!v, !v) {
  %0 = stablehlo.add %a, %b : !v
  %1 = stablehlo.multiply %a, %b : !v
  return %0, %1 : !v, !v
})");
  }

  // A call of the kernel #k, which `alias` defines.
  Program call(const std::string& alias, const char* attribute = "",
               ArrayRef<Donation> donations = {}) const {
    const std::string text = str(R"(
func.func @main(%a: !v {}) -> !v {{
  %0 = stablehlo.custom_call @switchyard.call(%a) {{
    api_version = 4 : i32, backend_config = #k}} : (!v) -> !v
  return %0 : !v
}})",
                                 attribute);
    return compile({kFour}, {kFour}, type("4xf32") + alias + text, donations);
  }

  Client* client_ = nullptr;
};

TEST(PjrtOpening, FilesThatAreNoPlugins) {
  SY_EXPECT_ERROR(Client::open("/no/such/plugin.so"), Error,
                  "[pjrt] cannot open /no/such/plugin.so: No such file");
  SY_EXPECT_ERROR(Client::open("/proc/cpuinfo"), Error,
                  "[pjrt] cannot open /proc/cpuinfo: ");
  Dl_info libc;
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc), 0);
  SY_EXPECT_ERROR(Client::open(libc.dli_fname), Error,
                  "is not a PJRT plugin: it has no function GetPjrtApi");
}

TEST_F(PjrtClient, OutputsAreFreshAndAligned) {
  const auto e = arithmetic({kFour, kFour}, {kFour, kFour});
  const Floats a = count_to(40);
  const auto first = run(*e, {&a[0], &a[4]});
  for (size_t i = 0; i < 36; ++i) {  // few of the inputs are aligned
    const auto out = run(*e, {&a[i], &a[i]});
    EXPECT_EQ(elements(out[0])[3], 2 * a[i + 3]);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(out[0]->data()) % kAlignment, 0u);
  }
  EXPECT_EQ(elements(first[0]), (Floats{6, 8, 10, 12}));
  EXPECT_EQ(elements(first[1]), (Floats{5, 12, 21, 32}));
}

TEST_F(PjrtClient, InputsAndConstantsAsOutputsAreCopied) {
  const Shape wide{kFloat, {2, 3}}, tall{kFloat, {3, 2}}, none{kFloat, {0, 3}};
  const auto e = compile({wide}, {wide, wide, tall, tall, kFour, none}, R"(
!w = tensor<2x3xf32>
!t = tensor<3x2xf32>
!n = tensor<0x3xf32>
func.func @main(%a: !w) -> (!w, !w, !t, !t, tensor<4xf32>, !n) {
  %t = stablehlo.transpose %a, dims = [1, 0] : (!w) -> !t
  %k = stablehlo.constant dense<2.0> : tensor<4xf32>
  %n = stablehlo.constant dense<> : !n
  return %a, %a, %t, %t, %k, %n : !w, !w, !t, !t, tensor<4xf32>, !n
})");
  const Storage a = storage_of(count_to(6));
  const auto out = run(*e, {a->data()}), again = run(*e, {a->data()});
  for (const int k : {0, 1}) {
    EXPECT_EQ(elements(out[k]), elements(a));
    EXPECT_NE(out[k]->data(), a->data());
    EXPECT_EQ(elements(out[2 + k]), (Floats{1, 4, 2, 5, 3, 6}));
  }
  EXPECT_NE(out[0]->data(), out[1]->data());
  EXPECT_NE(out[2]->data(), out[3]->data());
  EXPECT_EQ(elements(out[4]), Floats(4, 2));
  EXPECT_NE(out[4]->data(), again[4]->data());
  EXPECT_EQ(out[5]->nbytes(), 0u);
}

TEST_F(PjrtClient, TellsWhatIsWrong) {
  SY_EXPECT_ERROR(compile({}, {}, "bogus"), Error, "[pjrt] compile: ");
  const Shapes two{kFour, kFour};
  SY_EXPECT_ERROR(arithmetic(two, {kFour}), ValueError,
                  "[pjrt] outputs: expected 2 as the program has, got 1");
  SY_EXPECT_ERROR(arithmetic(two, {kFour, kEight}), ValueError, "float32[8]");
  SY_EXPECT_ERROR(arithmetic(two, {{kInt, {4}}, kFour}), ValueError,
                  "got int32[4] for 0");
  const Floats a = count_to(8);
  SY_EXPECT_ERROR(run(*arithmetic(two, two), {a.data()}), ValueError,
                  "[pjrt] inputs: expected 2, got 1");
  const auto longer = arithmetic({kEight, kFour}, two);
  SY_EXPECT_ERROR(run(*longer, {a.data(), a.data()}), Error, "[pjrt] run: ");
}

TEST_F(PjrtClient, AllTypesAndSizes) {
  const std::pair<ScalarType, const char*> types[] = {
      {kByte, "ui8"}, {kChar, "i8"},      {kShort, "i16"}, {kInt, "i32"},
      {kLong, "i64"}, {kHalf, "f16"},     {kFloat, "f32"}, {kDouble, "f64"},
      {kBool, "i1"},  {kBFloat16, "bf16"}};
  const std::vector<int64_t> sizes[] = {{}, {0}, {3}, {2, 0, 3}, {17, 3}};
  alignas(kAlignment) unsigned char pattern[512], zeros[512] = {};
  for (const auto& [dtype, name] : types) {
    // Bytes that make positive numbers of any type.
    for (size_t i = 0; i < sizeof pattern; ++i) {
      pattern[i] = dtype == kBool ? i % 2 : 64 + i * 37 % 32;
    }
    for (const std::vector<int64_t>& dims : sizes) {
      const Shape shape{dtype, dims};
      SCOPED_TRACE(to_string(shape));
      std::string text;
      for (const int64_t size : dims) text += str("{}x", size);
      const Shapes two(2, shape);
      const auto e = compile(two, two, type(text + name) + R"(
func.func @main(%a: !v, %b: !v) -> (!v, !v) {
  %0 = stablehlo.maximum %a, %b : !v
  return %0, %a : !v, !v
})");
      const size_t bytes = shape.nbytes();
      for (const size_t offset : {size_t{0}, element_size(dtype)}) {
        const void* const in = bytes == 0 ? nullptr : pattern + offset;
        for (const Storage& s : run(*e, {in, zeros})) {
          ASSERT_EQ(s->nbytes(), bytes);
          EXPECT_TRUE(bytes == 0 || std::memcmp(s->data(), in, bytes) == 0);
        }
      }
    }
  }
}

TEST_F(PjrtClient, NansArePassedOn) {
  const Shape table{kFloat, {8, 40}};
  const auto e = compile({table, table}, {table, {kFloat, {40}}, {kFloat, {8}}},
                         type("8x40xf32") + R"(
func.func @main(%a: !v, %b: !v) -> (!v, tensor<40xf32>, tensor<8xf32>) {
  %0 = stablehlo.maximum %a, %b : !v
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum
      across dimensions = [0] : (!v, tensor<f32>) -> tensor<40xf32>
  %2 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum
      across dimensions = [1] : (!v, tensor<f32>) -> tensor<8xf32>
  return %0, %1, %2 : !v, tensor<40xf32>, tensor<8xf32>
})");
  Floats a = count_to(320), b = a;
  a[2 * 40 + 17] = b[5 * 40 + 3] = std::nanf("");
  const auto out = run(*e, {a.data(), b.data()});
  EXPECT_TRUE(std::isnan(elements(out[0])[2 * 40 + 17]));
  EXPECT_TRUE(std::isnan(elements(out[0])[5 * 40 + 3]));
  EXPECT_TRUE(std::isnan(elements(out[1])[17]));
  EXPECT_EQ(elements(out[1])[3], 7 * 40 + 4);
  EXPECT_TRUE(std::isnan(elements(out[2])[2]));
  EXPECT_EQ(elements(out[2])[5], 6 * 40);
}

TEST_F(PjrtClient, KernelsGetTheirDataAndHaveSeveralResults) {
  const KernelId subtract([](Inputs in, Outputs out) {
    ASSERT_EQ(in.size(), 2u);
    ASSERT_EQ(out.size(), 3u);
    const auto* const a = static_cast<const float*>(in[0]);
    const auto* const b = static_cast<const float*>(in[1]);
    for (int i = 0; i < 6; ++i) {
      static_cast<float*>(out[0])[i] = a[i] - b[i];
      static_cast<bool*>(out[2])[i] = a[i] > b[i];
    }
  });
  // The operand %t is row-major for the kernel.
  const auto e = compile({{kFloat, {2, 3}}, {kFloat, {3, 2}}},
                         {{kFloat, {3, 2}}, {kLong, {0, 2}}, {kBool, {3, 2}}},
                         type("3x2xf32") + kernel(subtract) + R"(
func.func @main(%a: tensor<2x3xf32>, %b: !v)
    -> (!v, tensor<0x2xi64>, tensor<3x2xi1>) {
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> !v
  %r:3 = stablehlo.custom_call @switchyard.call(%t, %b) {
    api_version = 4 : i32, backend_config = #k}
      : (!v, !v) -> (!v, tensor<0x2xi64>, tensor<3x2xi1>)
  %0 = stablehlo.multiply %r#0, %r#0 : !v
  return %0, %r#1, %r#2 : !v, tensor<0x2xi64>, tensor<3x2xi1>
})");
  const Storage a = storage_of(count_to(6)), b = storage_of(Floats(6, 3));
  const auto out = run(*e, {a->data(), b->data()});
  EXPECT_EQ(elements(out[0]), (Floats{4, 1, 1, 4, 0, 9}));
  EXPECT_EQ(elements<bool>(out[2]), (std::vector<bool>{0, 1, 0, 1, 0, 1}));
}

// A large program may call them on threads of the plugin.
TEST_F(PjrtClient, KernelsRunInOrderWithLiveDenormals) {
  constexpr size_t kElements = 512 * 512;
  const Shapes square(1, {kFloat, {512, 512}});
  bool live = true;
  float calls = 0;
  const KernelId id([&](Inputs in, Outputs out) {
    live = live && denormals_live();
    ++calls;
    const auto* const x = static_cast<const float*>(in[0]);
    auto* const y = static_cast<float*>(out[0]);
    for (size_t i = 0; i < kElements; ++i) y[i] = x[i] * 10 + calls;
  });
  const auto e = compile(square, square, type("512x512xf32") + kernel(id) + R"(
func.func @main(%a: !v) -> !v {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
      : (!v, !v) -> !v
  %1 = stablehlo.custom_call @switchyard.call(%0) {
    api_version = 4 : i32, backend_config = #k} : (!v) -> !v
  %2 = stablehlo.custom_call @switchyard.call(%1) {
    api_version = 4 : i32, backend_config = #k} : (!v) -> !v
  return %2 : !v
})");
  const Storage a = storage_of(Floats(kElements, 1));
  EXPECT_TRUE(elements(run(*e, {a->data()})[0]) == Floats(kElements, 51212));
  EXPECT_TRUE(elements(run(*e, {a->data()})[0]) == Floats(kElements, 51234));
  EXPECT_TRUE(live && denormals_live());
}

TEST_F(PjrtClient, KernelsThrowWhatRunThrows) {
  int fault = 0;
  const KernelId id([&](Inputs, Outputs out) {
    if (fault == 1) throw 42;
    if (fault == 2) throw IndexError("[op] bad index");
    std::fill_n(static_cast<float*>(out[0]), 4, 5.f);
  });
  const auto e = call(kernel(id));
  const auto donated =
      call(kernel(id), "{tf.aliasing_output = 0 : i32}", {Donation{0, 0}});
  for (int i = 0; i < 100; ++i) {
    const Storage a = storage_of({1, 2, 3, 4});
    fault = 1;
    try {
      run(*e, {a->data()});
      ADD_FAILURE() << "nothing came out";
    } catch (const int thrown) {
      EXPECT_EQ(thrown, 42);
    }
    fault = 2;
    SY_EXPECT_ERROR(run(*e, {a->data()}), IndexError, "[op] bad index");
    fault = 0;
    EXPECT_EQ(elements(run(*e, {a->data()})[0]), Floats(4, 5));
    fault = 2;
    SY_EXPECT_ERROR(run(*donated, {a->data()}), IndexError, "[op] bad index");
    fault = 0;
    run(*donated, {a->data()});
    EXPECT_EQ(elements(a), Floats(4, 5));
  }
  EXPECT_TRUE(denormals_live());
}

TEST_F(PjrtClient, KernelsThatAreNotThere) {
  KernelId id([](Inputs, Outputs) {});
  const auto e = call(kernel(id));
  const Storage a = storage_of({1, 2, 3, 4});
  run(*e, {a->data()});
  const std::string text = str("calls kernel {}, which is not", id.number());
  { const KernelId gone(std::move(id)); }
  SY_EXPECT_ERROR(run(*e, {a->data()}), Error, text);
  const auto none = call("#k = {}\n");
  SY_EXPECT_ERROR(run(*none, {a->data()}), ValueError,
                  "must have an attribute id of type i64");
}

TEST_F(PjrtClient, KernelsFailInEachThreadOnTheirOwn) {
  const KernelId id(
      [](Inputs in, Outputs) { throw *static_cast<const float*>(in[0]); });
  const auto e = call(kernel(id));
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Floats own(4, static_cast<float>(t));
      for (int i = 0; i < 200; ++i) {
        try {
          run(*e, {own.data()});
        } catch (const float thrown) {
          if (thrown == own[0]) ++right;
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 4 * 200);
}

// The second output is computed into the memory of the first input.
TEST_F(PjrtClient, DonatedInputsBecomeOutputs) {
  constexpr const char* kSaid = "{tf.aliasing_output = 1 : i32}";
  // The input is read; is just memory; is donated without a word in the text.
  const std::tuple<const char*, const char*, float> forms[] = {
      {kSaid, "%a", 10}, {kSaid, "%b", 12}, {"", "%a", 10}};
  for (const auto& [attribute, operand, sum] : forms) {
    for (const int64_t n : {0, 4, 1 << 20}) {
      SCOPED_TRACE(str("'{}' {} {}", attribute, operand, n));
      const Shapes two(2, {kFloat, {n}});
      const std::string text = str(R"(
func.func @main(%a: !v {}, %b: !v) -> (!v, !v) {{
  %0 = stablehlo.multiply %b, %b : !v
  %1 = stablehlo.add {}, %0 : !v
  return %0, %1 : !v, !v
}})",
                                   attribute, operand);
      const auto e =
          compile(two, two, type(str("{}xf32", n)) + text, {Donation{0, 1}});
      for (const size_t offset : {0, 1}) {  // aligned, and not
        const Storage a = storage_of(Floats(n + 2, 1));
        const Storage b = storage_of(Floats(n + 2, 3));
        Storage outputs[] = {nullptr, b};
        e->run({static_cast<float*>(a->data()) + offset, b->data()}, outputs);
        EXPECT_TRUE(elements(outputs[0]) == Floats(n, 9));
        EXPECT_EQ(outputs[1].get(), b.get());
        Floats want(n + 2, 1);
        std::fill_n(want.begin() + offset, n, sum);
        EXPECT_TRUE(elements(a) == want);
      }
    }
  }
}

}  // namespace
}  // namespace sy::pjrt
