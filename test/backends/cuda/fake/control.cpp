#include "test/backends/cuda/fake/control.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace fake_cuda {
namespace {

template <class F>
void look_up(void* library, const char* name, F** found) {
  *found = reinterpret_cast<F*>(dlsym(library, name));
  if (*found != nullptr) return;
  std::fprintf(stderr, "%s\n", dlerror());
  std::abort();
}

Control find_control() {
  const char* path = std::getenv("SWITCHYARD_CUDA_DRIVER");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "SWITCHYARD_CUDA_DRIVER: %s\n",
                 path == nullptr ? "not set" : dlerror());
    std::abort();
  }
  Control c;
  look_up(library, "fake_cuda_fail_launch", &c.fail_launch);
  look_up(library, "fake_cuda_fault_launch", &c.fault_launch);
  look_up(library, "fake_cuda_fail_create", &c.fail_create);
  look_up(library, "fake_cuda_fail_allocate", &c.fail_allocate);
  look_up(library, "fake_cuda_fail_host_allocate", &c.fail_host_allocate);
  look_up(library, "fake_cuda_slow", &c.slow);
  look_up(library, "fake_cuda_pause", &c.pause);
  look_up(library, "fake_cuda_seed", &c.seed);
  look_up(library, "fake_cuda_block_order", &c.block_order);
  look_up(library, "fake_cuda_heal", &c.heal);
  look_up(library, "fake_cuda_last_fault", &c.last_fault);
  look_up(library, "fake_cuda_refused_image", &c.refused_image);
  look_up(library, "fake_cuda_count", &c.count_into);
  return c;
}

}  // namespace

const Control& control() {
  static const Control c = find_control();
  return c;
}

}  // namespace fake_cuda
