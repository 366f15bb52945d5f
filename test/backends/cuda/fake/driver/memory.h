#pragma once

#include <cstddef>
#include <cstdint>

#include "test/backends/cuda/fake/driver/state.h"

// Memory of devices, and pinned memory.
//
// All devices share one range of addresses, which is reserved at the start and
// has no access where nothing is mapped. Physical memory is a file without a
// name for each device. Freed addresses are used again as late as possible, so
// that what is used after it was freed faults.

namespace fake_cuda {

// The granularity that cuMemGetAllocationGranularity returns.
inline constexpr size_t kGranularity = size_t{2} << 20;

// Whether all bytes are mapped memory of the device, or of one that the context
// may reach, or pinned memory.
bool reachable(const ContextState& context, uintptr_t address, size_t bytes);
// The device of mapped memory, or -1.
int device_of(uintptr_t address, size_t bytes);
bool is_pinned(uintptr_t address, size_t bytes);
// Whether the address is one that only devices have.
bool in_device_range(uintptr_t address);

int64_t device_bytes();
int64_t pinned_bytes();

// With FAKE_CUDA_PROTECT memory of devices is closed: an access faults, and the
// handler opens what is around it if the thread has one of these, until that
// ends. So the host cannot read it by mistake, nor a kernel of a device that
// may not, and work pays for what it touches.
class DeviceAccess {
 public:
  // For a kernel of the context. nullptr: for a copy that has looked whether
  // its contexts reach the memory.
  explicit DeviceAccess(const ContextState* of);
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

}  // namespace fake_cuda
