#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "test/backends/cuda/fake/on_host/thread.h"

// Runs kernels that were compiled with cuda_on_host.h.
//
// Some blocks at a time run on the calling thread, their threads as coroutines:
// each runs until it ends, waits for others, or others go first. A seed decides
// which goes when. Two accesses that nothing orders end the launch of a kernel
// whose accesses are seen (on_host/checked.h). Memory of the device is ordinary
// memory.

namespace fake_cuda {

enum class BlockOrder { kAscending, kDescending, kShuffled };

// __shared__ variables are thread-local ones.
struct SharedVariables {
  void* begin = nullptr;
  size_t bytes = 0;
};

struct Grid {
  const char* name = "";
  sy_on_host::Kernel kernel = nullptr;
  const void* params = nullptr;
  size_t params_bytes = 0;  // 0: unknown
  dim3 blocks, threads;
  size_t shared_bytes = 0;  // dynamic
  // 0: threads start in ascending order, wake in the order of arrival, and run
  // until they wait; so do blocks.
  uint64_t seed = 1;
  unsigned resident = 4;  // blocks that run at the same time, at most
  // So many accesses are checked, and others may run before each of them.
  uint64_t most_checked = ~uint64_t{0};
  // The range of the device's memory, for expect_global; 0 and 0: anywhere.
  uintptr_t memory_begin = 0, memory_end = 0;
  BlockOrder order = BlockOrder::kAscending;
  // The calling thread's copy of the __shared__ variables, if it is known: that
  // of the program otherwise.
  SharedVariables variables;
  // Called before each block, with its number among those that run; may be
  // nullptr.
  void (*before_block)(void* data, uint64_t number) = nullptr;
  void* data = nullptr;
};

enum class Ending {
  kDone,
  kIllegalAddress,
  kMisaligned,
  kFailed,  // a trap, a race, or threads that wait for each other for ever
};

struct Outcome {
  Ending ending = Ending::kDone;
  std::string text;      // which kernel, which thread, what
  uint64_t checked = 0;  // accesses
};

// Any threads may call it at once.
Outcome run_grid(const Grid& grid);

// Kernels of the program itself call it before an access (checked.cpp), on any
// thread, in a kernel or not.
void checked_access(sy_on_host::Access how, const void* p, size_t bytes,
                    const void* from);

// Handles an access that faulted: returns true if it made the access possible,
// and the instruction is to be tried again. Called in a handler of signals, on
// any thread. Set once, before the first launch; installs the handler.
using FaultHook = bool (*)(const void* address, bool write) noexcept;
void set_fault_hook(FaultHook hook);

}  // namespace fake_cuda
