#pragma once

#include "backends/cuda/runtime/context.h"
#include "backends/cuda/runtime/errors.h"
#include "backends/cuda/runtime/events.h"
#include "backends/cuda/runtime/staging.h"
#include "backends/cuda/runtime/stream_state.h"
#include "c10/macros.h"

// The state that the runtime keeps of a device.

namespace sy::cuda {

inline constexpr int kMaxDevices = 32;

class DeviceState {
 public:
  // Retains the primary context, which takes the time of making it.
  explicit DeviceState(int index);
  DeviceState(const DeviceState&) = delete;

  const int index;
  driver::Device ordinal = 0;
  driver::Context context = nullptr;
  DeviceLimits limits;
  DeviceErrors errors;
  EventPool events;
  StreamTable streams;
  Staging small_staging{size_t{1} << 20}, large_staging{size_t{16} << 20};
  PinnedBuffers small_buffers{size_t{128} << 10},
      large_buffers{size_t{4} << 20};
};

// Makes it on the first use. Throws ValueError if there is no such device.
DeviceState& device_state(int device);
// nullptr while nobody has used the device.
DeviceState* used_device(int device) noexcept;

// A thread's view of the runtime.
struct ThreadState {
  int device = -1;  // whose context is the thread's; -1: unknown
  struct Current {
    StreamState* stream = nullptr;  // nullptr: the first
    uint64_t number = 0;
  } current[kMaxDevices];
};
ThreadState& this_thread() noexcept;

// The stream that the thread's work goes to. The device must be in use.
StreamState& current_stream_state(DeviceState& device) noexcept;

// Lets each of two devices reach the memory of the other, if they can. Asks
// once for each pair.
void allow_peers(DeviceState& a, DeviceState& b);

// Like use_device(), but without the comparison: other code of the process may
// have set another context.
void enter_device(DeviceState& device);

// Sets the context for calls that may come from any thread, and restores the
// thread's own.
class ContextScope {
 public:
  explicit ContextScope(const DeviceState& device) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  int before_;
  bool changed_;
};

}  // namespace sy::cuda
