#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cuda/driver/api.h"

// The settings of the environment, and those that tests change while they run.

namespace fake_cuda {

using sy::cuda::driver::Result;

// The library reads these once.
struct Settings {
  int devices = 1;
  int version = 13000;              // of CUDA
  size_t memory = size_t{2} << 30;  // of each device
  int major = 9, minor = 0;
  int multiprocessors = 4;
  bool synchronous = false;  // tasks run when they are given
  bool protect = true;       // the host cannot touch memory of the device
  bool junk = true;          // new memory holds junk
  bool keep_modules = false;
  uint64_t most_checked = 1 << 19;  // accesses of each kernel
  int patience = 60;                // seconds for a launch; 0: for ever
  std::string name = "Fake CUDA device";
};
const Settings& settings();

// Counts down to the call that fails.
class Nth {
 public:
  void set(int64_t nth, int code) {
    code_ = code;
    left_ = nth;
  }
  // kSuccess, or the code if this is the call.
  Result hit() {
    if (left_.load(std::memory_order_relaxed) <= 0) return Result::kSuccess;
    return left_.fetch_sub(1) == 1 ? static_cast<Result>(code_.load())
                                   : Result::kSuccess;
  }

 private:
  std::atomic<int64_t> left_{0};
  std::atomic<int> code_{0};
};

struct Faults {
  Nth launch, fault, create, allocate, host_allocate;
  std::atomic<unsigned> slow{0};
  std::atomic<uint64_t> seed{1};
  std::atomic<int> block_order{0};
};
Faults& faults();

struct Counters {
  std::atomic<int64_t> launches{0}, blocks{0}, copies_to_device{0},
      copies_to_host{0}, copies_on_device{0}, fills{0}, bytes_copied{0},
      allocations{0}, creations{0}, host_allocations{0}, mappings{0},
      context_switches{0}, waits{0}, refused_images{0};
};
Counters& counters();

// The text of the last fault, which is also written to stderr unless it was
// asked for.
void note_fault(const std::string& text, bool asked_for);

}  // namespace fake_cuda
