#include <string>
#include <vector>

#include "test/backends/cuda/fake/driver_fixture.h"

// Mistakes that a GPU or its compiler would not forgive, by the interfaces of
// the driver and of NVRTC: each wrong kernel beside a right one. The tests vary
// kernels and options; they never vary the compute capability.

namespace {

using namespace fake_cuda;
using enum driver::Result;

std::string kernel(const std::string& body, const std::string& before = "") {
  return "#include \"kernel.cuh\"\n" + before +
         "struct Params { LaunchHead head; int n; int value; int* out; };\n"
         "SY_KERNEL(tested, Params, 256) {\n" +
         body + "\n}\n";
}

void expect_compiles(const std::string& source) {
  const Compilation c = compile(source);
  EXPECT_EQ(c.result, 0) << c.log;
}
void expect_refused(const std::string& source, const std::string& part) {
  const Compilation c = compile(source);
  EXPECT_EQ(c.result, 6) << source;
  EXPECT_NE(c.log.find(part), std::string::npos) << c.log;
}

class RulesTest : public DriverTest {
 protected:
  int run(const std::string& source, unsigned blocks = 6) {
    const driver::Function f = load(source, "tested");
    const DevicePointer out = allocate(4096);
    EXPECT_EQ(api().fill(out, 0, 4096, stream), kSuccess);
    FillParams p{{}, 64, 0, reinterpret_cast<int*>(out)};
    EXPECT_EQ(launch(f, blocks, 64, &p), kSuccess);
    return api().stream_synchronize(stream);
  }
  void expect_race(const std::string& source) {
    EXPECT_EQ(run(source), kLaunchFailed) << source;
    const std::string fault = control().last_fault();
    EXPECT_NE(fault.find("race: it "), std::string::npos) << fault;
    control().heal();
  }
};

TEST_F(RulesTest, RacesEndTheLaunch) {
  EXPECT_EQ(run(kernel("atomicAdd(p.out, 1);")), kSuccess);
  expect_race(kernel("p.out[0] += 1;"));
  EXPECT_EQ(run(kernel("p.out[first_index()] += 1;")), kSuccess);
  expect_race(kernel("p.out[first_index() % 100] += 1;"));
  const std::string last_block = R"(
  if (threadIdx.x != 0) return;
  p.out[1 + blockIdx.x] = static_cast<int>(blockIdx.x);
  FENCE
  if (atomicAdd(p.out, 1) != static_cast<int>(gridDim.x) - 1) return;
  FENCE
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += p.out[1 + i];
  p.out[100] = sum;)";
  EXPECT_EQ(run(kernel(last_block, "#define FENCE __threadfence();\n")),
            kSuccess);
  expect_race(kernel(last_block, "#define FENCE\n"));
  expect_race(kernel(last_block, "#define FENCE __threadfence_block();\n"));
}

TEST_F(RulesTest, FunctionsOfTheHostAreRefused) {
  expect_compiles(kernel("p.out[0] = static_cast<int>(sinf(1.f) + erf(2.0));"));
  expect_compiles(kernel("printf(\"%d\\n\", p.n); assert(p.n > 0);"));
  expect_compiles(kernel("int* x = new int[4]; p.out[0] = *x; delete[] x;"));
  expect_compiles(kernel("void* x = malloc(4); free(x);"));
  expect_refused(kernel("p.out[0] = rand();", "extern \"C\" int rand();\n"),
                 "calling a __host__ function(\"rand\")");
  expect_refused(kernel("p.out[0] = rint_at(3);", "int rint_at(int);\n"),
                 "calling a __host__ function(\"rint_at(int)\")");
  expect_refused(
      kernel("fesetround(0);", "extern \"C\" int fesetround(int);\n"),
      "calling a __host__ function(\"fesetround\")");
}

TEST_F(RulesTest, HeadersOfTheHostAreRefused) {
  const std::string use = "std::vector<int> v(3); p.out[0] = v[1];";
  for (const char* header : {"vector", "algorithm", "iostream", "thread"}) {
    expect_refused(kernel("", std::string("#include <") + header + ">\n"),
                   "tested.cu: catastrophic error: cannot open source file \"" +
                       std::string(header) + '"');
  }
  expect_refused(kernel(use, "#include <vector>\n"),
                 "cannot open source file \"vector\"");
  expect_compiles(kernel("", "#include <stdint.h>\n"));
}

TEST_F(RulesTest, ExceptionsAndTypesAtRunTimeAreRefused) {
  expect_refused(kernel("if (p.n < 0) throw 3;"), "exception handling");
  expect_refused(kernel("try { p.out[0] = 1; } catch (...) { p.out[0] = 2; }\n"
                        "if (p.n < 0) throw 3;"),
                 "exception handling");
  expect_refused(kernel("p.out[0] = dynamic_cast<B*>(a) != nullptr;",
                        "struct A { virtual ~A() {} };\n"
                        "struct B : A { int x; };\nA* a;\n"),
                 "-fno-rtti");
}

TEST_F(RulesTest, StaticVariablesHaveConstantValues) {
  expect_compiles(kernel("static int x = 3; atomicAdd(&x, 1);"));
  expect_refused(
      kernel("static int x = p.n; p.out[0] = x;"),
      "dynamic initialization is not supported for a function-scope");
  expect_refused(kernel("p.out[0] = x;",
                        "static int three(const int* p) { return *p; }\n"
                        "int* start; __device__ int x = three(start);\n"),
                 "dynamic initialization is not supported");
  expect_refused(kernel("__shared__ int x = 3; atomicAdd(&x, 1);"),
                 "initializer not allowed for __shared__ variable");
}

// `n` bytes, which no optimizer leaves out.
std::string shared_array(const std::string& name, int n) {
  const std::string words = std::to_string(n / 4);
  return "__shared__ volatile int " + name + "[" + words + "]; " + name +
         "[threadIdx.x] = 1;\n";
}

TEST_F(RulesTest, KernelsHave48KOfSharedVariables) {
  expect_compiles(kernel(shared_array("a", 48 << 10)));
  expect_compiles(
      kernel(shared_array("a", 24 << 10) + shared_array("b", 24 << 10)));
  expect_refused(kernel(shared_array("a", (48 << 10) + 4)),
                 "ptxas error   : Entry function 'tested' uses too much shared "
                 "data (0xc004 bytes, 0xc000 max)");
  expect_refused(
      kernel(shared_array("a", 30 << 10) + shared_array("b", 30 << 10)),
      "(0xf000 bytes, 0xc000 max)");
  const std::string helper = "__device__ __noinline__ void help() { " +
                             shared_array("h", 30 << 10) + "}\n";
  expect_refused(kernel("help();" + shared_array("a", 30 << 10), helper),
                 "(0xf000 bytes, 0xc000 max)");
  // Each kernel has its own.
  expect_compiles(kernel(shared_array("a", 30 << 10)) +
                  "SY_KERNEL(other, Params, 256) {\n" +
                  shared_array("a", 30 << 10) + "}\n");
}

TEST_F(RulesTest, OptionsForFastFloatsAreRefused) {
  const std::string source = kernel("");
  for (const char* fast :
       {"--use_fast_math", "-use_fast_math", "--ftz=true", "-ftz=true",
        "--prec-div=false", "-prec-div=false", "-prec-sqrt=false"}) {
    const Compilation c = compile(source, {"-arch=sm_90", fast});
    EXPECT_EQ(c.result, 5) << fast;
    EXPECT_EQ(c.log, "fake_nvrtc: error: " + std::string(fast) +
                         ": the host computes floats exactly; a GPU that is "
                         "told so does not\n");
  }
  for (const char* exact :
       {"--ftz=false", "-prec-div=true", "--prec-sqrt=true"}) {
    EXPECT_EQ(compile(source, {"-arch=sm_90", exact}).result, 0) << exact;
  }
  EXPECT_EQ(compile(source, {"-arch=sm_90", "-ftz", "true"}).result, 5);
  EXPECT_EQ(compile(source, {"-arch=sm_90", "-ftz=maybe"}).result, 5);
  EXPECT_EQ(compile(source, {"-arch=sm_90", "--prec=false"}).result, 5);
}

}  // namespace
