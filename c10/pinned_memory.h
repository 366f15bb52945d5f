#pragma once

#include <optional>

#include "c10/backend.h"
#include "c10/storage.h"

// Pinned memory: of the host, that the devices of a backend copy from and to
// directly (DeviceInterface::pinned_allocator). Tensors over it are CPU tensors
// as any other; they keep the backend's library loaded.

namespace sy {

// Whose memory is meant: that of `device`'s backend; without one, of the first
// loaded backend that has some. Throws ValueError, naming `op` and the backends
// there are.
SY_API DeviceType pinning_backend(const char* op, std::optional<Device> device);

// Whether the memory is pinned; for that device, if one is given.
SY_API bool is_pinned(const StorageImpl& s, std::optional<Device> device);

}  // namespace sy
