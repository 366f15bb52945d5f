#include "test/backends/cuda/fake/driver_fixture.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fake_cuda {
namespace {

void* open_library(const char* variable) {
  const char* path = std::getenv(variable);
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  if (library != nullptr) return library;
  std::fprintf(stderr, "%s: %s\n", variable,
               path == nullptr ? "not set" : dlerror());
  std::abort();
}

std::string device_text(const std::string& name) {
  std::ifstream in("backends/cuda/device/" + name);
  if (!in) {
    std::fprintf(stderr,
                 "backends/cuda/device/%s: not found; tests run at the "
                 "root of the tree\n",
                 name.c_str());
    std::abort();
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Nvrtc {
  int (*create)(void**, const char*, const char*, int, const char* const*,
                const char* const*);
  int (*destroy)(void**);
  int (*compile)(void*, int, const char* const*);
  int (*log_size)(void*, size_t*);
  int (*log)(void*, char*);
  int (*cubin_size)(void*, size_t*);
  int (*cubin)(void*, char*);
};

const Nvrtc& nvrtc() {
  static const Nvrtc n = [] {
    void* library = open_library("SWITCHYARD_NVRTC");
    Nvrtc found;
    const auto look_up = [&](const char* name, auto** f) {
      *f = reinterpret_cast<std::remove_reference_t<decltype(**f)>*>(
          dlsym(library, name));
      if (*f == nullptr) std::abort();
    };
    look_up("nvrtcCreateProgram", &found.create);
    look_up("nvrtcDestroyProgram", &found.destroy);
    look_up("nvrtcCompileProgram", &found.compile);
    look_up("nvrtcGetProgramLogSize", &found.log_size);
    look_up("nvrtcGetProgramLog", &found.log);
    look_up("nvrtcGetCUBINSize", &found.cubin_size);
    look_up("nvrtcGetCUBIN", &found.cubin);
    return found;
  }();
  return n;
}

}  // namespace

const char* const kFillSource = R"(
#include "kernel.cuh"
struct FillParams {
  LaunchHead head;
  int n;
  int value;
  int* out;
};
SY_KERNEL(fill, FillParams, 256) {
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    p.out[i] = p.value + static_cast<int>(i);
  }
}
SY_KERNEL(add_one, FillParams, 256) {
  for (int64_t i = first_index(); i < p.n; i += index_stride()) p.out[i] += 1;
}
)";

const driver::Api& api() {
  static const driver::Api a = [] {
    setenv("FAKE_CUDA_DEVICES", "2", 0);
    void* library = open_library("SWITCHYARD_CUDA_DRIVER");
    driver::Api found;
#define SY_LOOK_UP(member, symbol, arguments)                           \
  found.member =                                                        \
      reinterpret_cast<decltype(found.member)>(dlsym(library, symbol)); \
  if (found.member == nullptr) std::abort();
    SY_CUDA_DRIVER_FUNCTIONS(SY_LOOK_UP)
#undef SY_LOOK_UP
    if (found.init(0) != driver::kSuccess) std::abort();
    return found;
  }();
  return a;
}

Compilation compile(const std::string& source,
                    std::vector<std::string> options) {
  const Nvrtc& n = nvrtc();
  const std::string kernel = device_text("kernel.cuh");
  const std::string head = device_text("launch_head.cuh");
  const char* const headers[] = {kernel.c_str(), head.c_str()};
  const char* const names[] = {"kernel.cuh", "launch_head.cuh"};
  void* program = nullptr;
  EXPECT_EQ(n.create(&program, source.c_str(), "tested.cu", 2, headers, names),
            0);
  std::vector<const char*> given;
  for (const std::string& o : options) given.push_back(o.c_str());
  Compilation c;
  c.result = n.compile(program, static_cast<int>(given.size()), given.data());
  size_t bytes = 0;
  EXPECT_EQ(n.log_size(program, &bytes), 0);
  c.log.resize(bytes);
  EXPECT_EQ(n.log(program, c.log.data()), 0);
  c.log.resize(bytes - 1);
  if (c.result == 0) {
    EXPECT_EQ(n.cubin_size(program, &bytes), 0);
    c.cubin.resize(bytes);
    if (bytes != 0) {
      EXPECT_EQ(n.cubin(program, c.cubin.data()), 0);
    }
  }
  EXPECT_EQ(n.destroy(&program), 0);
  return c;
}

void DriverTest::SetUp() {
  const driver::Api& a = api();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(a.primary_retain(&contexts[i], i), driver::kSuccess);
  }
  ASSERT_EQ(a.context_set(contexts[0]), driver::kSuccess);
  ASSERT_EQ(a.stream_create(&stream, driver::kNonBlocking, 0),
            driver::kSuccess);
}

void DriverTest::TearDown() {
  const Control& c = control();
  c.slow(0);
  c.fail_launch(0, 0);
  c.fault_launch(0, 0);
  c.fail_create(0);
  c.fail_allocate(0);
  c.fail_host_allocate(0);
  c.heal();
  EXPECT_EQ(api().context_set(contexts[0]), driver::kSuccess);
  EXPECT_EQ(api().stream_destroy(stream), driver::kSuccess);
}

driver::Function DriverTest::load(const std::string& source, const char* name) {
  const Compilation c = compile(source);
  EXPECT_EQ(c.result, 0) << c.log;
  driver::Module module = nullptr;
  EXPECT_EQ(api().module_load(&module, c.cubin.data()), driver::kSuccess);
  driver::Function f = nullptr;
  EXPECT_EQ(api().module_function(&f, module, name), driver::kSuccess);
  return f;
}

int DriverTest::launch(driver::Function f, unsigned blocks, unsigned threads,
                       void* params, unsigned shared, driver::Stream on) {
  // All kernels, of either device, write when they start.
  static const DevicePointer started = [] {
    void* host = nullptr;
    DevicePointer p = 0;
    EXPECT_EQ(api().host_allocate(&host, 8, driver::kHostMapped),
              driver::kSuccess);
    EXPECT_EQ(api().host_pointer(&p, host, 0), driver::kSuccess);
    return p;
  }();
  static_cast<sy::cuda::LaunchHead*>(params)->started =
      reinterpret_cast<unsigned long long*>(started);
  void* arguments[] = {params};
  return api().launch(f, blocks, 1, 1, threads, 1, 1, shared,
                      on == nullptr ? stream : on, arguments, nullptr);
}

DevicePointer DriverTest::allocate(size_t bytes) {
  DevicePointer p = 0;
  EXPECT_EQ(api().allocate(&p, bytes), driver::kSuccess);
  return p;
}

}  // namespace fake_cuda
