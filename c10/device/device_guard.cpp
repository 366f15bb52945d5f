#include "c10/device/device_guard.h"

#include <algorithm>
#include <utility>

#include "c10/device/backend.h"
#include "c10/device/missing_devices.h"
#include "c10/dispatch/registry.h"
#include "c10/process/error.h"

namespace sy {

namespace {

struct OfThread {
  const OperatorEntry* running = nullptr;
  int8_t device[kMaxBackends] = {};
};

constinit thread_local OfThread of_thread;

bool has_one(DeviceType type) { return type == kCPU || type == kMeta; }

}  // namespace

int current_device(DeviceType type) noexcept {
  const int n = number_of(type);
  return n < kMaxBackends ? of_thread.device[n] : 0;
}

void set_current_device(Device device) {
  if (!device.has_index()) return;
  if (has_one(device.type())) {
    SY_CHECK(device.index() == 0, Value,
             "[set_current_device] device: there is one '{}', got {}",
             backend_device_name(device.type()), device);
    return;
  }
  const int count = device_interface(device.type()).device_count();
  SY_CHECK(count > 0, Value, "[set_current_device] device: {}",
           no_device_text(device.type()));
  SY_CHECK(device.index() < count, Value,
           "[set_current_device] device: expected '{}' with an index in [0, "
           "{}], got {}",
           backend_device_name(device.type()), count - 1, device);
  detail::exchange_device(device.type(), device.index());
}

Device with_index(Device device) noexcept {
  if (has_one(device.type())) return Device(device.type());
  return device.has_index()
             ? device
             : Device(device.type(), current_device(device.type()));
}

const OperatorEntry* running_operator() noexcept { return of_thread.running; }

std::string_view running_operator_name() noexcept {
  return of_thread.running == nullptr ? "?" : of_thread.running->name();
}

namespace detail {

int exchange_device(DeviceType type, int index) noexcept {
  int8_t& current = of_thread.device[number_of(type)];
  const int before = current;
  if (index == before) return before;
  current = static_cast<int8_t>(index);
  if (DeviceInterface* i = loaded_interface(type)) i->set_device(index);
  return before;
}

DeviceCall::DeviceCall(const OperatorEntry* op, DeviceType type,
                       int index) noexcept
    : operator_before_(std::exchange(of_thread.running, op)), type_(type) {
  if (index < 0 || index == of_thread.device[number_of(type)]) return;
  before_ = exchange_device(type, index);
}

DeviceCall::~DeviceCall() {
  of_thread.running = operator_before_;
  if (before_ >= 0) exchange_device(type_, before_);
}

void run_on_device(const Kernel& kernel, const OperatorEntry& op,
                   DispatchKeySet keys, Value* args, size_t num_args,
                   Value* results, size_t num_results) {
  DeviceOfArguments device{keys.highest_backend()};
  for (size_t i = 0; i < num_args; ++i) {
    const Value& v = args[i];
    if (v.tensor_impl() != nullptr) {
      device.add(v.to_tensor());
    } else if (v.tag() == Value::Tag::TensorList ||
               v.tag() == Value::Tag::OptionalTensorList) {
      for (const TensorBase& t : v.to_tensor_list()) device.add(t);
    } else if (v.tag() == Value::Tag::Device) {
      device.add(v.to_device());
    }
  }
  const DeviceCall in_device(&op, device.type, device.index());
  const auto* const real = static_cast<const Kernel*>(kernel.context);
  real->boxed(*real, op, keys, args, num_args, results, num_results);
}

}  // namespace detail
}  // namespace sy
