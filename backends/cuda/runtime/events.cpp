#include "backends/cuda/runtime/events.h"

#include "backends/cuda/runtime/device_state.h"

namespace sy::cuda {

driver::Event EventPool::take(bool timed) {
  {
    const std::lock_guard lock(mutex_);
    auto& list = free_[timed];
    if (!list.empty()) {
      const driver::Event e = list.back();
      list.pop_back();
      return e;
    }
  }
  driver::Event e = nullptr;
  check(device_,
        driver::api().event_create(&e, timed ? 0 : driver::kEventWithoutTime),
        "cuEventCreate");
  return e;
}

void EventPool::put(driver::Event event, bool timed) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    free_[timed].push_back(event);
  } catch (...) {  // without memory for the list, the event is lost
  }
}

}  // namespace sy::cuda
