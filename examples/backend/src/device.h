#pragma once

namespace sample {

inline constexpr int kDevices = 1;

// The device that this thread's next calls of the driver are for.
int current_device() noexcept;
// Throws ValueError if there is no such device.
void set_current_device(int index);

// Makes a device current, and the one before again at the end of the scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(int index) : before_(current_device()) {
    if (index != before_) set_current_device(index);
  }
  ~DeviceGuard() {
    if (current_device() != before_) set_current_device(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_;
};

}  // namespace sample
