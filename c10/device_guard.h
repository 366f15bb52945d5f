#pragma once

#include <optional>

#include "c10/device.h"
#include "c10/macros.h"

// The current device of each backend, of this thread: where kernels and
// allocations go that name no index. A new thread begins at 0. Kernels of
// backends with several devices run under a guard for the device of their
// arguments, which the dispatcher sets; they need none of their own.

namespace sy {

// 0 for backends with one device, and before it was set.
SY_API int current_device(DeviceType type) noexcept;
// Throws ValueError if there is no such device. A device without index changes
// nothing.
SY_API void set_current_device(Device device);
// The device with its index, the current one if it has none. "cpu" and "meta"
// have no index.
SY_API Device with_index(Device device) noexcept;

namespace detail {
// Unchecked: the device is one of a tensor. Returns the index before.
SY_API int exchange_device(DeviceType type, int index) noexcept;
}  // namespace detail

// The device is the current one of its backend until the end of the scope. Of
// "cpu", and of a device without index, nothing is changed. Throws ValueError
// if there is no such device.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device)
      : device_(device),
        before_(device.has_index() ? current_device(device.type()) : -1) {
    set_current_device(device);
  }
  ~DeviceGuard() {
    if (before_ >= 0) detail::exchange_device(device_.type(), before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  Device device() const { return device_; }

 private:
  Device device_;
  int before_;
};

// The same for a device that may be none.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  // The device of this scope from now on.
  void set(Device device) { guard_.emplace(device); }
  void reset() { guard_.reset(); }

 private:
  std::optional<DeviceGuard> guard_;
};

class OperatorEntry;

// The operator whose kernel runs in this thread, innermost; nullptr outside of
// kernels of devices. Launches put its name beside the work, so that an error
// which arrives later can name it. Known for backends with several devices or
// with streams.
SY_API const OperatorEntry* running_operator() noexcept;
// "aten::add.Tensor"; "?" for none.
SY_API std::string_view running_operator_name() noexcept;

namespace detail {
// One call of a kernel of such a backend: sets the device and the operator. An
// index of -1 leaves the device.
class SY_API DeviceCall {
 public:
  DeviceCall(const OperatorEntry* op, DeviceType type, int index) noexcept;
  ~DeviceCall();
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

 private:
  const OperatorEntry* const operator_before_;
  const DeviceType type_;
  int before_ = -1;
};
}  // namespace detail

}  // namespace sy
