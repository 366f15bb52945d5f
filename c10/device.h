#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "c10/macros.h"

namespace sy {

// A kind of device is the number of its backend: 0 CPU, 1 Meta, the others in
// the order in which they were registered in this process. Names, not numbers,
// are what programs and files keep.
using DeviceType = uint8_t;
inline constexpr DeviceType kCPU = 0;
inline constexpr DeviceType kMeta = 1;
inline constexpr int kMaxBackends = 32;

struct Device {
  DeviceType type = kCPU;
  int8_t index = -1;  // -1: the current device of that kind

  constexpr Device() = default;
  constexpr Device(DeviceType t, int i = -1)
      : type(t), index(static_cast<int8_t>(i)) {}
  // "cpu", "meta", "npu:1". Throws ValueError naming the devices there are.
  SY_API explicit Device(std::string_view text);
  Device(const char* text) : Device(std::string_view(text)) {}
  Device(const std::string& text) : Device(std::string_view(text)) {}

  constexpr bool is_cpu() const { return type == kCPU; }
  constexpr bool is_meta() const { return type == kMeta; }
  constexpr bool has_index() const { return index >= 0; }
  SY_API std::string str() const;
  friend constexpr bool operator==(Device, Device) = default;
};

inline std::string to_string(Device d) { return d.str(); }

}  // namespace sy
