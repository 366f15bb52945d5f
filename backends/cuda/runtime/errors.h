#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/device/launch_head.cuh"
#include "backends/cuda/driver/api.h"

// Errors that a device meets after the call that caused them.
//
// Checked errors are what kernels find in the values of their operands, and
// report (device/kernel.cuh). The device goes on; the error is thrown by the
// next wait for its stream, by a wait for the device, or by a copy to the host:
// as IndexError or ValueError, with the operator, its argument and the value.
//
// A fault (a wild address, for instance) ends the context. Its error names the
// oldest launch that was not done. Every later use of the device throws the
// same text; the process lives.

namespace sy {
class OperatorEntry;
}

namespace sy::cuda {

class DeviceState;
struct LaunchRecord;

// Whether the device can be used no more: after a fault, and in a process that
// was forked from one that used it. Its memory is gone, and nothing that is
// left of it needs the driver. Costs a load.
bool has_failed(int device) noexcept;

// Throws the first checked error of the device that nobody has seen, and
// forgets the others; for code that waited by its own means. Throws the error
// of a device that has failed.
void throw_errors(int device);

// The text of an operator's errors of kind Fault::kValue: "expected …, got …".
// `op` is its name without overload, "aten::histc"; the in-place form is meant
// too. Call it once for each operator, from anywhere.
using DescribeValue = std::string (*)(int argument, int64_t value,
                                      int64_t bound);
void describe_values(std::string_view op, DescribeValue describe);

// Throws for what a call of the driver answers, if that is not kSuccess. A
// fault is the error of the device from then on.
void check(DeviceState& device, driver::Result r, const char* what);

// ---- of the runtime itself ----

struct CheckedError {
  uint64_t stream = 0;
  const OperatorEntry* op = nullptr;
  const char* kernel = "?";
  Fault code = Fault::kNone;
  int argument = -1;
  int64_t value = 0, bound = 0;
};

// The errors of one device. Thread-safe.
class DeviceErrors {
 public:
  explicit DeviceErrors(DeviceState& device) : device_(device) {}
  DeviceErrors(const DeviceErrors&) = delete;

  // Sets the slot where kernels write, and the device's address of it.
  void use_slot(ErrorSlot* slot, ErrorSlot* on_device) noexcept {
    slot_ = slot;
    slot_on_device_ = on_device;
  }
  ErrorSlot* slot_on_device() const noexcept { return slot_on_device_; }

  // Whether a kernel has reported something. Costs a load of cached memory, so
  // that launches can ask.
  bool reported() const noexcept {
    return std::atomic_ref<unsigned long long>(slot_->ticket)
               .load(std::memory_order_acquire) != 0;
  }
  // Takes it from there, while the stream still knows the launch.
  void take() noexcept;
  // Throws the first error of a stream, or of all streams, if there is one.
  void throw_of_stream(uint64_t stream);
  void throw_any();

  // The text of the failure; nullptr while there is none.
  const std::string* failure() const noexcept {
    return failure_.load(std::memory_order_acquire);
  }
  void throw_failure() const;
  // Keeps the failure, if it is the first.
  void fault(driver::Result r) noexcept;
  // `text` must live for ever. Safe in a child right after a fork.
  void fail(const std::string* text) noexcept {
    failure_.store(text, std::memory_order_release);
  }

 private:
  [[noreturn]] static void throw_error(const CheckedError& e);
  std::string fault_text(driver::Result r) const;

  DeviceState& device_;
  ErrorSlot* slot_ = nullptr;
  ErrorSlot* slot_on_device_ = nullptr;
  std::atomic<const std::string*> failure_{nullptr};
  std::atomic<bool> any_{false};  // of taken_
  std::mutex mutex_;
  std::vector<CheckedError> taken_;
};

}  // namespace sy::cuda
