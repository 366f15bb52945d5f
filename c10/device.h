#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "c10/dispatch_key_gen.h"
#include "c10/macros.h"

// DeviceType, a kind of device, is the number of its backend. Those in
// schemas/dispatch_keys.yaml have their numbers and names whether they are
// loaded or not: kCPU, kMeta, kCUDA, kLazy, kXLA, kPrivateUse1. Any other gets
// the next number when it is registered, so that names, not numbers, are what
// programs and files keep.

namespace sy {

inline constexpr int kMaxBackends = 32;

// A device: its kind, and which of that kind.
class Device {
 public:
  constexpr Device() = default;  // the CPU
  // An index of -1 is the current device of the kind (c10/device_guard.h).
  constexpr Device(DeviceType type, int index = -1)
      : type_(type), index_(static_cast<int8_t>(index)) {}
  // "cpu", "meta", "cuda:0", "npu:1". Throws ValueError naming the devices
  // there are.
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
// "cuda": the name of the kind's devices.
SY_API std::string to_string(DeviceType t);
SY_API std::ostream& operator<<(std::ostream& out, Device d);
SY_API std::ostream& operator<<(std::ostream& out, DeviceType t);

// The number of a backend: its bit in a DispatchKeySet, its place in a table.
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
