#pragma once

#include <cstdint>
#include <string>

#include "c10/device.h"

namespace sy::tools {

// From now on every block of the device lies between two zones that belong to
// no tensor, and both they and fresh blocks hold NaN. Of devices that run
// kernels at once; once a process. Whether it was done.
bool lay_red_zones(Device device);

// Whether a zone has changed since it was laid, and where; "" if none has. Each
// is told once.
std::string broken_zone();

// Bytes of blocks between zones that are handed out now.
int64_t bytes_in_zones();

}  // namespace sy::tools
