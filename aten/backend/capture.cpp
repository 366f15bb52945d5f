#include "aten/backend/capture.h"

#include "c10/device/backend_service.h"

namespace sy::capture {

Graph::~Graph() = default;
Look::~Look() = default;
GradListener::~GradListener() = default;
Recorder::~Recorder() = default;
Engine::~Engine() = default;

Engine* engine() noexcept {
  for (int n = 0; n < kMaxBackends; ++n) {
    void* const service =
        backend_service(device_type_of(n), BackendService::kCapture);
    if (service != nullptr) return static_cast<Engine*>(service);
  }
  return nullptr;
}

}  // namespace sy::capture
