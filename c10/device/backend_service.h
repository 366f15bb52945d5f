#pragma once

#include <cstdint>
#include <string>

#include "c10/device/device.h"
#include "c10/macros.h"

// The services of a backend besides kernels and devices: one object of a kind
// for each backend. c10 keeps the pointers and knows nothing of most objects,
// whose types belong to the layers that use them.

namespace sy {

class LibraryToken;

// For a backend that can say more than how many storages keep its library.
class SY_API HolderReport {
 public:
  virtual ~HolderReport();
  // Lines for the error of an unload() that is refused; "" if there is nothing
  // to say. No lock of Switchyard is held.
  virtual std::string describe() const = 0;
};

enum class BackendService : uint8_t {
  kRegions,   // RegionEngine of aten/backend/region.h
  kEngines,   // BackendEngines of aten/backend/engines.h
  kHolders,   // HolderReport
  kCompiler,  // jit::Compiler of aten/backend/jit.h
  kCapture,   // capture::Engine of aten/backend/capture.h
  kCount
};

// nullptr if the backend offers none. A load; the object stays while the caller
// is in a CallScope (c10/dispatch/thread_state.h) or holds the backend's
// library. Library::service() registers it.
SY_API void* backend_service(DeviceType device, BackendService s) noexcept;

// The library that registered the service; nullptr if there is none. Code that
// keeps what the object made must hold it.
SY_API LibraryToken* owner_of_service(DeviceType device,
                                      BackendService s) noexcept;

namespace detail {
// For library commit and unloading.
SY_API void set_backend_service(DeviceType device, BackendService s,
                                void* object) noexcept;
// Called when a service has been withdrawn, after the last call that could use
// it, for what was kept of it. There is one function for each service.
using ServiceGone = void (*)(DeviceType device) noexcept;
SY_API void on_service_gone(BackendService s, ServiceGone f) noexcept;
void service_gone(DeviceType device, BackendService s) noexcept;
}  // namespace detail

}  // namespace sy
