#pragma once

#include <string>

#include "c10/device.h"

namespace sy::tools {

// From now on every block of the device ends in a zone that belongs to no
// tensor and holds NaN. Of devices that run kernels at once; once a process.
// Whether it was done.
bool lay_red_zones(Device device);

// Whether a zone has changed since it was laid, and where; "" if none has. Each
// is told once.
std::string broken_zone();

}  // namespace sy::tools
