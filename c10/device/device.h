#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "c10/dispatch_key_gen.h"
#include "c10/macros.h"

// A DeviceType is a kind of device: the number of its backend. Backends in
// schemas/dispatch_keys.yaml have fixed numbers and names, loaded or not: kCPU,
// kMeta, kCUDA, kLazy, kXLA, kPrivateUse1. Any other backend gets the next
// number when it is registered, so programs and files must keep names, not
// numbers.

namespace sy {

inline constexpr int kMaxBackends = 32;

// A device: its kind, and its index among the devices of that kind.
class Device {
 public:
  constexpr Device() = default;  // the CPU
  // An index of -1 means the current device of the kind
  // (c10/device/device_guard.h).
  constexpr Device(DeviceType type, int index = -1)
      : type_(type), index_(static_cast<int8_t>(index)) {}
  // Parses "cpu", "meta", "cuda:0", "npu:1". Throws ValueError, which names the
  // known devices.
  SY_API explicit Device(std::string_view text);
  Device(const char* text) : Device(std::string_view(text)) {}
  Device(const std::string& text) : Device(std::string_view(text)) {}

  constexpr DeviceType type() const { return type_; }
  constexpr int index() const { return index_; }
  constexpr bool has_index() const { return index_ >= 0; }
  constexpr void set_index(int index) { index_ = static_cast<int8_t>(index); }
  constexpr bool is_cpu() const { return type_ == kCPU; }
  constexpr bool is_meta() const { return type_ == kMeta; }
  constexpr bool is_cuda() const { return type_ == kCUDA; }
  constexpr bool is_lazy() const { return type_ == kLazy; }
  constexpr bool is_xla() const { return type_ == kXLA; }
  constexpr bool is_privateuseone() const { return type_ == kPrivateUse1; }
  // "cuda:0"
  SY_API std::string str() const;
  friend constexpr bool operator==(Device, Device) = default;

 private:
  DeviceType type_ = kCPU;
  int8_t index_ = -1;
};

inline std::string to_string(Device d) { return d.str(); }
// The name of devices of this kind, "cuda".
SY_API std::string to_string(DeviceType t);
SY_API std::ostream& operator<<(std::ostream& out, Device d);
SY_API std::ostream& operator<<(std::ostream& out, DeviceType t);

// The number of a backend: its bit in a DispatchKeySet, and its place in
// tables.
constexpr int number_of(DeviceType t) { return static_cast<int>(t); }
constexpr DeviceType device_type_of(int number) {
  return static_cast<DeviceType>(number);
}

}  // namespace sy

template <>
struct std::hash<sy::Device> {
  size_t operator()(sy::Device d) const noexcept {
    return static_cast<size_t>(d.type()) << 8 | static_cast<uint8_t>(d.index());
  }
};
