#include "backends/cuda/runtime/context.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#include "backends/cuda/memory/allocator.h"
#include "backends/cuda/runtime/device_state.h"
#include "c10/device/device_guard.h"
#include "c10/device/missing_devices.h"
#include "c10/process/error.h"

namespace sy::cuda {
namespace {

using driver::api;

// Never destroyed: memory of devices may be freed while the process ends.
std::atomic<DeviceState*> devices[kMaxDevices] = {};
std::mutex& devices_mutex() {
  static auto* const m = new std::mutex;
  return *m;
}

// The driver does not work in the child of a process that used it, and its
// memory is not there. Nobody may wait for it then, nor touch that memory.
std::atomic<bool> forked{false};
const std::string& fork_text() {
  static const auto* const text = new std::string(
      "[cuda] this process was forked from one that had begun to use CUDA, and "
      "cannot use it: fork before the first use, or start a new program");
  return *text;
}
void after_fork() {
  forked.store(true, std::memory_order_relaxed);
  for (auto& d : devices) {
    DeviceState* const s = d.load(std::memory_order_relaxed);
    if (s != nullptr) s->errors.fail(&fork_text());
  }
}

// A fault that other parts meet is that of the thread's device.
void on_fault(driver::Result r) {
  DeviceState* const s =
      this_thread().device < 0 ? nullptr : used_device(this_thread().device);
  if (s == nullptr) return;
  s->errors.fault(r);
  s->errors.throw_failure();
}

struct Count {
  int devices = 0;
  std::string why;

  Count() {
    count();
    set_why_no_devices(kCUDA, why);
  }
  void count() {
    const char* reason = "";
    const driver::Api* const a = driver::try_api(&reason);
    if (a == nullptr) {
      why = reason;
      return;
    }
    const driver::Result r = a->device_count(&devices);
    if (r != driver::kSuccess) {
      devices = 0;
      why = str("[cuda] cuDeviceGetCount: {}", driver::result_text(r));
      return;
    }
    devices = std::min(devices, kMaxDevices);
    if (devices == 0) {
      why = str("[cuda] {}: there is no device (CUDA_VISIBLE_DEVICES?)",
                driver::driver_info().path);
      return;
    }
    fork_text();
    driver::set_fault_handler(&on_fault);
    pthread_atfork(nullptr, nullptr, &after_fork);
  }
};
const Count& counted() {
  static const auto* const c = new Count;
  return *c;
}

int attribute(driver::Device ordinal, driver::Attribute what) {
  int out = 0;
  driver::check(api().device_attribute(&out, what, ordinal),
                "cuDeviceGetAttribute");
  return out;
}

DeviceState& make_device(int device) {
  const int n = device_count();
  SY_CHECK(n > 0, Error, "{}", why_no_devices());
  SY_CHECK(device >= 0 && device < n, Value,
           "[cuda] device: expected an index in [0, {}], got {}", n - 1,
           device);
  if (forked.load(std::memory_order_relaxed)) throw Error(fork_text());
  const std::lock_guard lock(devices_mutex());
  if (DeviceState* const s = used_device(device)) return *s;
  auto* const made = new DeviceState(device);
  devices[device].store(made, std::memory_order_release);
  return *made;
}

}  // namespace

DeviceState::DeviceState(int i)
    : index(i), errors(*this), events(*this), streams(*this) {
  const driver::Api& a = api();
  driver::check(a.device_get(&ordinal, i), "cuDeviceGet");
  limits.multiprocessors = attribute(ordinal, driver::kMultiprocessors);
  limits.compute_major = attribute(ordinal, driver::kComputeMajor);
  limits.compute_minor = attribute(ordinal, driver::kComputeMinor);
  limits.shared_per_block =
      std::max(attribute(ordinal, driver::kMaxSharedPerBlock),
               attribute(ordinal, driver::kMaxSharedOptin));
  limits.virtual_memory = attribute(ordinal, driver::kVirtualMemory) != 0;
  driver::check(a.primary_retain(&context, ordinal),
                "cuDevicePrimaryCtxRetain");
  this_thread().device = -1;
  driver::check(a.context_set(context), "cuCtxSetCurrent");
  this_thread().device = i;

  void* slot = nullptr;
  driver::check(a.host_allocate(&slot, sizeof(ErrorSlot),
                                driver::kHostPortable | driver::kHostMapped),
                "cuMemHostAlloc");
  driver::DevicePointer on_device = 0;
  driver::check(a.host_pointer(&on_device, slot, 0),
                "cuMemHostGetDevicePointer");
  errors.use_slot(new (slot) ErrorSlot{},
                  reinterpret_cast<ErrorSlot*>(on_device));

  driver::Stream first = nullptr;
  driver::check(a.stream_create(&first, 0, 0), "cuStreamCreateWithPriority");
  streams.add(first, 0, false);
}

int device_count() noexcept {
  try {
    return counted().devices;
  } catch (...) {
    return 0;
  }
}

const char* why_no_devices() noexcept {
  try {
    return counted().why.c_str();
  } catch (...) {
    return "[cuda] no memory to ask the driver";
  }
}

DeviceState* used_device(int device) noexcept {
  return static_cast<unsigned>(device) < kMaxDevices
             ? devices[device].load(std::memory_order_acquire)
             : nullptr;
}

DeviceState& device_state(int device) {
  DeviceState* const s = used_device(device);
  return SY_LIKELY(s != nullptr) ? *s : make_device(device);
}

ThreadState& this_thread() noexcept {
  static constinit thread_local ThreadState state;
  return state;
}

StreamState& current_stream_state(DeviceState& device) noexcept {
  const ThreadState::Current& c = this_thread().current[device.index];
  return c.stream == nullptr || c.stream->number() != c.number
             ? device.streams.first()
             : *c.stream;
}

void enter_device(DeviceState& device) {
  device.errors.throw_failure();
  this_thread().device = -1;
  check(device, api().context_set(device.context), "cuCtxSetCurrent");
  this_thread().device = device.index;
}

void allow_peers(DeviceState& a, DeviceState& b) {
  static std::atomic<bool> asked[kMaxDevices][kMaxDevices] = {};
  if (asked[a.index][b.index].exchange(true, std::memory_order_relaxed)) return;
  // The result is the same if it is allowed already, or not at all: the driver
  // then goes through the host.
  const auto allow = [](DeviceState& here, DeviceState& there) {
    int can = 0;
    if (api().can_access_peer(&can, here.ordinal, there.ordinal) !=
            driver::kSuccess ||
        can == 0) {
      return;
    }
    // Mapped memory first: its list of devices is its own, and a context that
    // is a peer is taken to reach it.
    try {
      let_reach(there.index, here.index);
    } catch (const Error&) {
      there.errors.throw_failure();
      return;
    }
    enter_device(here);
    api().enable_peer(there.context, 0);
  };
  allow(a, b);
  allow(b, a);
}

ContextScope::ContextScope(const DeviceState& device) noexcept
    : before_(this_thread().device), changed_(before_ != device.index) {
  if (!changed_) return;
  api().context_set(device.context);
  this_thread().device = device.index;
}

ContextScope::~ContextScope() {
  if (!changed_ || before_ < 0) return;
  api().context_set(used_device(before_)->context);
  this_thread().device = before_;
}

const DeviceLimits& limits(int device) { return device_state(device).limits; }

driver::Context context(int device) { return device_state(device).context; }

void use_device(int device) {
  DeviceState& s = device_state(device);
  if (SY_LIKELY(this_thread().device == device &&
                s.errors.failure() == nullptr)) {
    return;
  }
  enter_device(s);
}

void use_any_device() {
  const auto works = [](int i) {
    const DeviceState* const s = used_device(i);
    return s != nullptr && s->errors.failure() == nullptr;
  };
  if (const int own = this_thread().device; works(own)) return use_device(own);
  for (int i = 0; i < kMaxDevices; ++i) {
    if (works(i)) return use_device(i);
  }
  const int current = std::max(current_device(kCUDA), 0);
  for (int i = 0; used_device(current) != nullptr && i < device_count(); ++i) {
    if (used_device(i) == nullptr) return use_device(i);
  }
  use_device(current);
}

driver::Stream current_stream(int device) {
  return current_stream_state(device_state(device)).handle();
}

uint64_t current_stream_number(int device) noexcept {
  if (static_cast<unsigned>(device) >= kMaxDevices) return 0;
  return this_thread().current[device].number;
}

}  // namespace sy::cuda
