#pragma once

#include <optional>

#include "c10/device/device.h"
#include "c10/macros.h"

// Each thread has a current device for each backend. Kernels and allocations
// that name no index use it. A new thread begins with device 0. If a backend
// has several devices, the dispatcher runs its kernels under a guard for the
// device of their arguments; the kernels themselves need none.

namespace sy {

// 0 if the backend has one device, or if none was set.
SY_API int current_device(DeviceType type) noexcept;
// Throws ValueError if there is no such device. Does nothing for a device
// without index.
SY_API void set_current_device(Device device);
// Gives a device without index the current index of its backend. "cpu" and
// "meta" lose theirs.
SY_API Device with_index(Device device) noexcept;

namespace detail {
// Sets the current device and returns the index before. Checks nothing: the
// device must be one that a tensor is on.
SY_API int exchange_device(DeviceType type, int index) noexcept;
}  // namespace detail

// Makes the device the current one of its backend until the end of the scope.
// Changes nothing for "cpu" and for a device without index. Throws ValueError
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

// A DeviceGuard for a device that may be absent.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  // Makes `device` the current one from now on, until the end of the scope.
  void set(Device device) { guard_.emplace(device); }
  void reset() { guard_.reset(); }

 private:
  std::optional<DeviceGuard> guard_;
};

class OperatorEntry;

// The operator whose kernel this thread runs, the innermost one; nullptr
// outside of kernels of devices. Launches keep its name with the work, so that
// an error which arrives later can name it. It is known only for backends with
// several devices or with streams.
SY_API const OperatorEntry* running_operator() noexcept;
// The name of that operator, "aten::add.Tensor"; "?" if there is none.
SY_API std::string_view running_operator_name() noexcept;

namespace detail {
// The scope of one call of a kernel of such a backend: sets the current device
// and the running operator, and restores both. An index of -1 keeps the device.
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
