#pragma once

#include <optional>

#include "c10/device/backend.h"
#include "c10/tensor/storage.h"

// Pinned memory is host memory that the devices of a backend copy from and to
// directly (DeviceInterface::pinned_allocator). Tensors in it are ordinary CPU
// tensors; they keep the backend's library loaded.

namespace sy {

// Chooses the backend that pins memory: the one of `device` or, without a
// device, the first loaded one that can. Throws ValueError, whose message names
// `op`, if there is none.
SY_API DeviceType pinning_backend(const char* op, std::optional<Device> device);

// Whether the memory is pinned, by the backend of `device` if one is given.
SY_API bool is_pinned(const StorageImpl& s, std::optional<Device> device);

}  // namespace sy
