#pragma once

#include "c10/backend.h"

namespace sy::cuda {

// The interface of the devices `cuda`; device.cpp registers it.
DeviceInterface& devices() noexcept;

}  // namespace sy::cuda
