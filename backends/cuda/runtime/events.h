#pragma once

#include <mutex>
#include <vector>

#include "backends/cuda/driver/api.h"

namespace sy::cuda {

class DeviceState;

// Events of one device for use again and again: making one takes the driver a
// microsecond. Thread-safe. The device's context must be the thread's.
class EventPool {
 public:
  explicit EventPool(DeviceState& device) : device_(device) {}
  EventPool(const EventPool&) = delete;

  // Throws what the driver says.
  driver::Event take(bool timed = false);
  // The recorded work may still lie ahead.
  void put(driver::Event event, bool timed = false) noexcept;

 private:
  DeviceState& device_;
  std::mutex mutex_;
  std::vector<driver::Event> free_[2];
};

}  // namespace sy::cuda
