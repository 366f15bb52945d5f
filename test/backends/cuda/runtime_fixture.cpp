#include "test/backends/cuda/runtime_fixture.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "backends/cuda/driver/api.h"
#include "backends/cuda/runtime/context.h"

namespace sy::cuda::testing {

namespace {
// The backend is linked to the test.
class Registered final : public ::testing::Environment {
 public:
  void SetUp() override { init(); }
};
::testing::Environment* const registered =
    ::testing::AddGlobalTestEnvironment(new Registered);
}  // namespace

const Fake& fake() {
  static const Fake f = [] {
    driver::api();
    void* const library =
        dlopen(driver::driver_info().path, RTLD_NOW | RTLD_NOLOAD);
    Fake out;
    const auto find = [&](auto* function, const char* name) {
      *reinterpret_cast<void**>(function) = dlsym(library, name);
      SY_CHECK(*function != nullptr, Error, "the fake driver lacks {}", name);
    };
    find(&out.fail_launch, "fake_cuda_fail_launch");
    find(&out.fault_launch, "fake_cuda_fault_launch");
    find(&out.slow, "fake_cuda_slow");
    find(&out.pause, "fake_cuda_pause");
    find(&out.count, "fake_cuda_count");
    return out;
  }();
  return f;
}

fake_cuda_counters counters() {
  fake_cuda_counters out;
  fake().count(&out);
  return out;
}

const Function& kernel_of_test(int device, const char* name) {
  static std::mutex mutex;
  static std::map<int, driver::Module> modules;
  static std::map<std::pair<int, std::string>, Function> functions;
  const std::lock_guard lock(mutex);
  use_device(device);
  if (!modules.contains(device)) {
    const char* const path = std::getenv("SWITCHYARD_TEST_KERNELS");
    std::ifstream file(path == nullptr ? "" : path, std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(file), {}};
    driver::check(driver::api().module_load(&modules[device], image.c_str()),
                  "cuModuleLoadData");
  }
  Function& f = functions[{device, name}];
  if (f.handle == nullptr) {
    f.name = name;
    driver::check(
        driver::api().module_function(&f.handle, modules[device], name),
        "cuModuleGetFunction");
  }
  return f;
}

Tensor made(int64_t n, int index) {
  return Tensor(make_tensor({n}, kLong, cuda_device(index)));
}

std::vector<int64_t> read(const Tensor& t) {
  std::vector<int64_t> out(static_cast<size_t>(t.numel()));
  device_interface(kCUDA).copy_to_host(out.data(), t.raw_data(), t.nbytes(),
                                       t.device().index());
  return out;
}

void step(const Tensor& x, int64_t factor, int64_t term) {
  StepParams p{
      {}, x.numel(), static_cast<long long*>(x.raw_data()), factor, term};
  const int device = x.device().index();
  launch(device, kernel_of_test(device, "step"), shape_for(x.numel()), p, {&x});
}

Gate::Gate(int device)
    : word_(TensorImpl::make(StorageImpl::allocate_pinned(4, kCUDA), kInt,
                             Device(kCPU), DispatchKeySet::dense(kCPU), {1},
                             {1}, 0)) {
  *static_cast<int*>(word_.raw_data()) = 0;
  GateParams p{{}, static_cast<const int*>(word_.raw_data()), nullptr};
  launch(device, kernel_of_test(device, "gate"), {{1}, {1}}, p, {&word_});
}

void Gate::open() {
  std::atomic_ref(*static_cast<int*>(word_.raw_data())).store(1);
}

}  // namespace sy::cuda::testing
