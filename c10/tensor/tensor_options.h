#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "c10/device/device.h"
#include "c10/tensor/scalar_type.h"

namespace sy {

enum class Layout : uint8_t { Strided };
inline constexpr Layout kStrided = Layout::Strided;

enum class MemoryFormat : uint8_t {
  Contiguous,
  Preserve,
  ChannelsLast,
  ChannelsLast3d
};

inline std::string to_string(Layout) { return "strided"; }
SY_API std::string to_string(MemoryFormat f);

// The properties of the tensor that a factory makes. A field that is not set
// has its default (default_dtype(), CPU, strided, no gradient). A value type.
class TensorOptions {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(ScalarType t) : dtype_(t) {}
  constexpr TensorOptions(Device d) : device_(d) {}
  // Exactly a DeviceType, such as kCPU: other integers do not convert.
  template <class T>
  requires std::is_same_v<T, DeviceType>
  constexpr TensorOptions(T t) : device_(Device(t)) {}
  // The text of a device, "npu:1"; 0 does not convert. Throws ValueError.
  template <class T>
  requires std::is_convertible_v<const T&, std::string_view> TensorOptions(
      const T& device)
      : device_(Device(std::string_view(device))) {}
  constexpr TensorOptions(Layout l) : layout_(l) {}
  constexpr TensorOptions(MemoryFormat f) : memory_format_(f) {}

  constexpr TensorOptions dtype(std::optional<ScalarType> t) const {
    TensorOptions r = *this;
    r.dtype_ = t;
    return r;
  }
  constexpr TensorOptions device(std::optional<Device> d) const {
    TensorOptions r = *this;
    r.device_ = d;
    return r;
  }
  constexpr TensorOptions device(DeviceType t, int index = -1) const {
    return device(Device(t, index));
  }
  constexpr TensorOptions layout(std::optional<Layout> l) const {
    TensorOptions r = *this;
    r.layout_ = l;
    return r;
  }
  constexpr TensorOptions requires_grad(std::optional<bool> v) const {
    TensorOptions r = *this;
    r.requires_grad_ = v;
    return r;
  }
  constexpr TensorOptions pinned_memory(std::optional<bool> v) const {
    TensorOptions r = *this;
    r.pinned_ = v;
    return r;
  }
  constexpr TensorOptions memory_format(std::optional<MemoryFormat> f) const {
    TensorOptions r = *this;
    r.memory_format_ = f;
    return r;
  }

  ScalarType dtype() const { return dtype_.value_or(default_dtype()); }
  constexpr Device device() const { return device_.value_or(Device(kCPU)); }
  constexpr Layout layout() const { return layout_.value_or(kStrided); }
  constexpr bool requires_grad() const {
    return requires_grad_.value_or(false);
  }
  constexpr std::optional<ScalarType> dtype_opt() const { return dtype_; }
  constexpr std::optional<Device> device_opt() const { return device_; }
  constexpr std::optional<Layout> layout_opt() const { return layout_; }
  constexpr std::optional<bool> pinned_memory_opt() const { return pinned_; }
  constexpr std::optional<bool> requires_grad_opt() const {
    return requires_grad_;
  }
  constexpr std::optional<MemoryFormat> memory_format_opt() const {
    return memory_format_;
  }

 private:
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<Layout> layout_;
  std::optional<bool> pinned_, requires_grad_;
  std::optional<MemoryFormat> memory_format_;
};

inline TensorOptions dtype(ScalarType t) { return TensorOptions(t); }
inline TensorOptions device(Device d) { return TensorOptions(d); }
inline TensorOptions requires_grad(bool v = true) {
  return TensorOptions().requires_grad(v);
}

}  // namespace sy
