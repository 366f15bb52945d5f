#pragma once

#include "test/backends/cuda/fake/driver/state.h"

// The driver's functions, each declared under the name of its member of
// driver::Api and exported under CUDA's: one that lacks its definition fails to
// link.

namespace fake_cuda {

using driver::Access;
using driver::AllocationProperties;
using driver::Context;
using driver::Device;
using driver::DevicePointer;
using driver::Event;
using driver::Function;
using driver::MemoryHandle;
using driver::Module;
using driver::Stream;
using enum sy::cuda::driver::Result;

namespace entry {
#define SY_FAKE_ENTRY(member, symbol, arguments) \
  __attribute__((visibility("default")))         \
  Result member arguments __asm__(symbol);
SY_CUDA_DRIVER_FUNCTIONS(SY_FAKE_ENTRY)
#undef SY_FAKE_ENTRY
}  // namespace entry

}  // namespace fake_cuda
