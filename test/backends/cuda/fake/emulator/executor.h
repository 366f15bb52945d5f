#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "test/backends/cuda/fake/on_host/thread.h"

// Runs kernels that were compiled with cuda_on_host.h.
//
// Blocks run one after the other on the calling thread, the threads of a block
// as coroutines: each runs until it ends or waits for others. Which goes first
// is shuffled, at the start and after each barrier, so that a kernel that lacks
// a barrier computes something else. Memory of the device is ordinary memory.

namespace fake_cuda {

enum class BlockOrder { kAscending, kDescending, kShuffled };

struct Grid {
  const char* name = "";
  sy_on_host::Kernel kernel = nullptr;
  const void* params = nullptr;
  dim3 blocks, threads;
  size_t shared_bytes = 0;  // dynamic
  // 0: threads start in ascending order, and wake in the order of arrival.
  uint64_t seed = 1;
  // Where the device's memory lies, for expect_global; 0 and 0: anywhere.
  uintptr_t memory_begin = 0, memory_end = 0;
  BlockOrder order = BlockOrder::kAscending;
  // Before each block, with its number among those that run; may be nullptr.
  void (*before_block)(void* data, uint64_t number) = nullptr;
  void* data = nullptr;
};

enum class Ending {
  kDone,
  kIllegalAddress,
  kMisaligned,
  kFailed,  // a trap, or threads that wait for each other for ever
};

struct Outcome {
  Ending ending = Ending::kDone;
  std::string text;  // which kernel, which thread, what
};

// Any threads at once.
Outcome run_grid(const Grid& grid);

// Of an access that faulted: true if the hook made it possible, and the
// instruction is to be tried again. Called in a handler of signals, on any
// thread. Set once, before the first launch; installs the handler.
using FaultHook = bool (*)(const void* address, bool write) noexcept;
void set_fault_hook(FaultHook hook);

}  // namespace fake_cuda
