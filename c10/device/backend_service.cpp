#include "c10/device/backend_service.h"

#include <atomic>

namespace sy {

HolderReport::~HolderReport() = default;

namespace {

constexpr int kServices = static_cast<int>(BackendService::kCount);

// Constant-initialised: asked for at any time.
constinit std::atomic<void*> services[kMaxBackends][kServices] = {};
constinit std::atomic<detail::ServiceGone> gone[kServices] = {};

}  // namespace

void* backend_service(DeviceType device, BackendService s) noexcept {
  return services[number_of(device)][static_cast<int>(s)].load(
      std::memory_order_acquire);
}

namespace detail {

void set_backend_service(DeviceType device, BackendService s,
                         void* object) noexcept {
  services[number_of(device)][static_cast<int>(s)].store(
      object, std::memory_order_release);
}

void on_service_gone(BackendService s, ServiceGone f) noexcept {
  gone[static_cast<int>(s)].store(f, std::memory_order_release);
}

void service_gone(DeviceType device, BackendService s) noexcept {
  const ServiceGone f =
      gone[static_cast<int>(s)].load(std::memory_order_acquire);
  if (f != nullptr) f(device);
}

}  // namespace detail
}  // namespace sy
