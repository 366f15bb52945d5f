#pragma once

#include <cstdint>

#include "backends/cuda/device/launch_head.cuh"
#include "backends/cuda/driver/api.h"

// The devices that the process uses. Contexts are primary ones, which other
// libraries of the process share.

namespace sy::cuda {

// 0 without a driver or without devices. Found once.
int device_count() noexcept;
// Why it is 0: "libcuda.so.1: cannot open shared object file …". "" if it is
// not.
const char* why_no_devices() noexcept;

// The properties that kernels are chosen by. Read once.
struct DeviceLimits {
  int multiprocessors = 1;
  int compute_major = 0, compute_minor = 0;
  int64_t shared_per_block = 48 << 10;  // at most, by opting in
  bool virtual_memory = false;          // cuMemMap and its kin
};
const DeviceLimits& limits(int device);

driver::Context context(int device);
// Makes the context of the device the thread's. Costs a comparison if it is.
// Throws if the device has failed (runtime/errors.h).
void use_device(int device);
// Makes some context the thread's, for what belongs to no device: its own, or
// that of a device in use. Makes one only if there is none that works.
void use_any_device();

// The stream that the thread's work on the device goes to, for the driver.
driver::Stream current_stream(int device);
// Its number in StreamInterface.
uint64_t current_stream_number(int device) noexcept;

}  // namespace sy::cuda
