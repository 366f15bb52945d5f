#pragma once

#include "c10/backend.h"

namespace sy::cuda {

// What the library knows of the devices `cuda`; device.cpp registers it.
DeviceInterface& devices() noexcept;

}  // namespace sy::cuda
