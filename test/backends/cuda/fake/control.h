#pragma once

#include <cstdint>

#include "test/backends/cuda/fake/fake_cuda_control.h"

// The functions of fake_cuda_control.h, in the library that
// SWITCHYARD_CUDA_DRIVER names: the one that the backend opens too. A test that
// is not given it fails.

namespace fake_cuda {

struct Control {
  decltype(&fake_cuda_fail_launch) fail_launch;
  decltype(&fake_cuda_fault_launch) fault_launch;
  decltype(&fake_cuda_fail_create) fail_create;
  decltype(&fake_cuda_fail_allocate) fail_allocate;
  decltype(&fake_cuda_fail_host_allocate) fail_host_allocate;
  decltype(&fake_cuda_slow) slow;
  decltype(&fake_cuda_pause) pause;
  decltype(&fake_cuda_seed) seed;
  decltype(&fake_cuda_block_order) block_order;
  decltype(&fake_cuda_heal) heal;
  decltype(&fake_cuda_last_fault) last_fault;
  decltype(&fake_cuda_refused_image) refused_image;

  fake_cuda_counters count() const {
    fake_cuda_counters c;
    count_into(&c);
    return c;
  }
  decltype(&fake_cuda_count) count_into;
};
const Control& control();

// While it lives no stream begins a task.
class Paused {
 public:
  Paused() { control().pause(1); }
  ~Paused() { end(); }
  Paused(const Paused&) = delete;
  Paused& operator=(const Paused&) = delete;
  void end() {
    if (paused_) control().pause(0);
    paused_ = false;
  }

 private:
  bool paused_ = true;
};

}  // namespace fake_cuda
