#pragma once

#include <gtest/gtest.h>

#include "aten/tensor.h"
#include "backends/cuda/compile/module.h"
#include "backends/cuda/runtime/launch.h"
#include "c10/device/device_guard.h"
#include "c10/device/stream.h"
#include "c10/dispatch/dispatcher.h"
#include "test/backends/cuda/fake/fake_cuda_control.h"
#include "test/backends/cuda/runtime_kernels.h"

// For tests of the runtime, on the fake driver that $SWITCHYARD_CUDA_DRIVER
// names, with the kernels of $SWITCHYARD_TEST_KERNELS (runtime_kernels.cpp).

namespace sy::cuda::testing {

// The fake driver's own functions.
struct Fake {
  void (*fail_launch)(int64_t nth, int code);
  void (*fault_launch)(int64_t nth, int code);
  void (*slow)(unsigned microseconds);
  void (*pause)(int paused);
  void (*count)(fake_cuda_counters*);
};
const Fake& fake();
fake_cuda_counters counters();

// While it lives, no stream begins a task.
class Paused {
 public:
  Paused() { fake().pause(1); }
  ~Paused() { go_on(); }
  void go_on() {
    if (!over_) fake().pause(0);
    over_ = true;
  }

 private:
  bool over_ = false;
};

const Function& kernel_of_test(int device, const char* name);

inline Device cuda_device(int index) {
  return Device(kCUDA, static_cast<int8_t>(index));
}
// A tensor on the device, not filled.
Tensor made(int64_t n, int index = 0);
// Its elements, int64.
std::vector<int64_t> read(const Tensor& t);
// x = x * factor + term for each element, in the current stream.
void step(const Tensor& x, int64_t factor, int64_t term);
// A kernel in the current stream that waits for open().
class Gate {
 public:
  explicit Gate(int device = 0);
  ~Gate() { open(); }
  void open();

 private:
  Tensor word_;  // pinned
};

// Makes calls from its scope kernels of the operator.
class AsOperator {
 public:
  explicit AsOperator(const char* name, int device = 0)
      : call_(&Dispatcher::singleton().find_or_throw(name).entry(), kCUDA,
              device) {}

 private:
  detail::DeviceCall call_;
};

inline uint64_t last_ticket(uint64_t stream, int device = 0) {
  return device_interface(kCUDA).streams()->last_ticket(device, stream);
}
inline uint64_t completed_ticket(uint64_t stream, int device = 0) {
  return device_interface(kCUDA).streams()->completed_ticket(device, stream);
}

}  // namespace sy::cuda::testing
