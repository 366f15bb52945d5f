#pragma once

#include <cstdint>
#include <string>

#include "c10/device/device.h"

namespace sy::tools {

// Every block of the device lies between two zones from now on. They belong to
// no tensor, and both they and fresh blocks hold NaN. It works for devices that
// run kernels at once, and once a process. Returns whether it was done.
bool lay_red_zones(Device device);

// Whether a zone has changed since it was laid, and where; "" if none has. Each
// is told once.
std::string broken_zone();

// Bytes of blocks between zones that are handed out now.
int64_t bytes_in_zones();

}  // namespace sy::tools
