#pragma once

#include <string>

#include "c10/device/device.h"
#include "c10/macros.h"

// A backend that is loaded may have no devices: there is no driver, say. The
// errors of those who ask for one say what it found. Thread-safe.

namespace sy {

// For a backend that has looked for devices, before its device_count() returns
// 0: "[npu] there is no driver: …". An empty text says nothing.
SY_API void set_why_no_devices(DeviceType t, std::string why);

// "there is no 'npu' device in this machine: [npu] there is no driver: …"
SY_API std::string no_device_text(DeviceType t);

}  // namespace sy
