#include "c10/device/backend.h"

#include <atomic>
#include <cstring>
#include <mutex>

#include "c10/dispatch/dispatch_key_set.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"

namespace sy {

DeviceInterface::~DeviceInterface() = default;

namespace {

class HostInterface final : public DeviceInterface {
 public:
  Allocator& allocator(int) override { return cpu_allocator(); }
  void copy_from_host(void* dst, const void* src, size_t bytes, int) override {
    if (bytes != 0) std::memcpy(dst, src, bytes);
  }
  void copy_to_host(void* dst, const void* src, size_t bytes, int) override {
    if (bytes != 0) std::memcpy(dst, src, bytes);
  }
  void copy_on_device(void* dst, const void* src, size_t bytes, int) override {
    if (bytes != 0) std::memcpy(dst, src, bytes);
  }
  bool host_accessible() const noexcept override { return true; }
};

// A slot's names are written once, before the number is given out.
struct Slot {
  std::string key;
  std::string device;
  std::atomic<DeviceInterface*> interface { nullptr };
  std::atomic<bool> present{false};
  std::atomic<bool> device_calls{false};
};

struct Backends {
  ForkMutex mutex;  // of those who register
  std::atomic<int> count{0};
  Slot slots[kMaxBackends];

  Backends() {
    for (const FixedBackend& b : kFixedBackends) add(b.key, b.device);
    fill(slots[number_of(kCPU)], new HostInterface);
    fill(slots[number_of(kMeta)], nullptr);
  }
  Slot& add(std::string_view key, std::string_view device) {
    const int n = count.load(std::memory_order_relaxed);
    slots[n].key = key;
    slots[n].device = device;
    count.store(n + 1, std::memory_order_release);
    return slots[n];
  }
  static void fill(Slot& s, DeviceInterface* interface) {
    s.interface.store(interface, std::memory_order_release);
    s.device_calls.store(
        interface != nullptr &&
            (interface->streams() != nullptr || interface->device_count() > 1),
        std::memory_order_release);
    s.present.store(true, std::memory_order_release);
  }
};

// Leaked: tensors may be freed after static destruction.
Backends& registry() {
  static auto* r = new Backends;
  return *r;
}

const Slot* slot(DeviceType t) {
  Backends& r = registry();
  const int n = number_of(t);
  return n < r.count.load(std::memory_order_acquire) ? &r.slots[n] : nullptr;
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0])) return false;
  for (const char c : name) {
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

// Keys of backends and of functionalities are looked up under one name.
void check_key_name(std::string_view key) {
  SY_CHECK(is_identifier(key), Registration,
           "backend key: expected an identifier, got '{}'", key);
  for (const DispatchKeyInfo& info : kDispatchKeyInfo) {
    const std::string_view prefix = info.prefix == nullptr ? "" : info.prefix;
    SY_CHECK(key != info.name && (prefix.empty() || !key.starts_with(prefix)),
             Registration, "backend key: '{}' could be mistaken for the key {}",
             key, info.name);
  }
}

}  // namespace

std::vector<BackendInfo> backends() {
  std::vector<BackendInfo> out;
  for (int t = 0; t < backend_count(); ++t) {
    const Slot& s = registry().slots[t];
    const bool present = s.present.load(std::memory_order_acquire);
    out.push_back({device_type_of(t), s.key, s.device,
                   s.interface.load(std::memory_order_acquire), present});
  }
  return out;
}

int backend_count() noexcept {
  return registry().count.load(std::memory_order_acquire);
}

std::string backend_key_name(DeviceType t) {
  const Slot* s = slot(t);
  return s == nullptr ? "?" : s->key;
}

std::string backend_device_name(DeviceType t) {
  const Slot* s = slot(t);
  return s == nullptr ? "?" : s->device;
}

DeviceInterface& device_interface(DeviceType t) {
  const Slot* s = slot(t);
  SY_CHECK(s != nullptr, Value, "device: no backend has the number {}",
           number_of(t));
  DeviceInterface* i = s->interface.load(std::memory_order_acquire);
  SY_CHECK(i != nullptr, Value, "device '{}{}", s->device,
           t == kMeta ? "' has no memory" : "': " + why_not_loaded(t));
  return *i;
}

DeviceInterface* loaded_interface(DeviceType t) noexcept {
  const Slot* s = slot(t);
  return s == nullptr ? nullptr : s->interface.load(std::memory_order_acquire);
}

std::string why_not_loaded(DeviceType t) {
  const Slot* s = slot(t);
  if (s != nullptr && s->present.load(std::memory_order_acquire)) return "";
  return "no library of this backend is loaded; load one with "
         "sy::load_library()";
}

namespace detail {

bool has_device_calls(DeviceType t) noexcept {
  const Slot* s = slot(t);
  return s != nullptr && s->device_calls.load(std::memory_order_acquire);
}

DeviceType register_backend(std::string_view key, std::string_view device,
                            DeviceInterface* interface) {
  check_key_name(key);
  SY_CHECK(is_identifier(device), Registration,
           "backend {}: device name: expected an identifier, got '{}'", key,
           device);
  Backends& r = registry();
  const std::lock_guard lock(r.mutex);
  const int n = r.count.load(std::memory_order_relaxed);
  for (int t = 0; t < n; ++t) {
    Slot& s = r.slots[t];
    SY_CHECK(s.key == key || s.device != device, Registration,
             "backend {}: device name '{}' belongs to backend {}", key, device,
             s.key);
    if (s.key != key) continue;
    SY_CHECK(!s.present, Registration, "backend {} is registered already", key);
    SY_CHECK(s.device == device, Registration, "backend {}{}{}{}{}'", key,
             t < kNumFixedBackends ? ": its devices are named '"
                                   : ": its device was named '",
             s.device, t < kNumFixedBackends ? "', got '" : "' before, got '",
             device);
    Backends::fill(s, interface);
    return device_type_of(t);
  }
  SY_CHECK(n < kMaxBackends, Registration,
           "backend {}: expected at most {} backends in a process", key,
           kMaxBackends);
  Backends::fill(r.add(key, device), interface);
  return device_type_of(n);
}

void unregister_backend(DeviceType t) noexcept {
  Backends& r = registry();
  const std::lock_guard lock(r.mutex);
  const int n = number_of(t);
  if (t <= kMeta || n >= r.count.load(std::memory_order_relaxed)) return;
  r.slots[n].present.store(false, std::memory_order_release);
  r.slots[n].device_calls.store(false, std::memory_order_release);
  r.slots[n].interface.store(nullptr, std::memory_order_release);
}

}  // namespace detail
}  // namespace sy
