#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "c10/device/device.h"
#include "c10/dispatch_key_gen.h"
#include "c10/macros.h"

namespace sy {

// 32 functionality bits (high) and 32 backend bits (low). A call runs the
// kernel of the highest functionality. If that has kernels per backend, the
// highest backend chooses among them.
class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  static constexpr DispatchKeySet raw(uint64_t bits) {
    DispatchKeySet s;
    s.bits_ = bits;
    return s;
  }
  static constexpr DispatchKeySet backend(DeviceType t) {
    return raw(uint64_t{1} << number_of(t));
  }
  // A functionality, or the key of a backend: DispatchKey::AutogradCUDA is two
  // bits. An alias is in no set.
  constexpr DispatchKeySet(DispatchKey key) : bits_(bits_of(key)) {}
  // The keys of a plain tensor of that backend.
  static constexpr DispatchKeySet dense(DeviceType t) {
    return backend(t) | DispatchKeySet(DispatchKey::Dense);
  }
  // The keys that a tensor of that backend has beside dense() when it requires
  // a gradient. Registrations call them "AutogradCUDA".
  static constexpr DispatchKeySet autograd(DeviceType t) {
    return backend(t) | DispatchKeySet(DispatchKey::Autograd);
  }
  // The functionality and all of higher priority, without backends.
  static constexpr DispatchKeySet from(DispatchKey k) {
    return raw(~uint64_t{0} << (32 + static_cast<int>(k)));
  }
  // All functionalities of lower priority, and all backends.
  static constexpr DispatchKeySet below(DispatchKey k) {
    return raw((uint64_t{1} << (32 + static_cast<int>(k))) - 1);
  }
  static constexpr DispatchKeySet all() { return raw(~uint64_t{0}); }

  constexpr uint64_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(DispatchKey k) const {
    const uint64_t wanted = bits_of(k);
    return (bits_ & wanted) == wanted;
  }
  constexpr bool has_backend(DeviceType t) const {
    return (bits_ >> number_of(t)) & 1;
  }
  constexpr uint32_t backend_bits() const {
    return static_cast<uint32_t>(bits_);
  }
  constexpr uint32_t functionality_bits() const {
    return static_cast<uint32_t>(bits_ >> 32);
  }
  // Undefined if there is none.
  constexpr DispatchKey highest_functionality() const {
    return static_cast<DispatchKey>(
        31 - std::countl_zero(functionality_bits() | 1u));
  }
  // 0 (CPU) if there is none.
  constexpr DeviceType highest_backend() const {
    return static_cast<DeviceType>(31 - std::countl_zero(backend_bits() | 1u));
  }
  // Whether there are two or more backends, the CPU included.
  constexpr bool mixed_backends() const {
    const uint32_t b = backend_bits();
    return (b & (b - 1)) != 0;
  }

  friend constexpr DispatchKeySet operator|(DispatchKeySet a,
                                            DispatchKeySet b) {
    return raw(a.bits_ | b.bits_);
  }
  friend constexpr DispatchKeySet operator&(DispatchKeySet a,
                                            DispatchKeySet b) {
    return raw(a.bits_ & b.bits_);
  }
  friend constexpr DispatchKeySet operator-(DispatchKeySet a,
                                            DispatchKeySet b) {
    return raw(a.bits_ & ~b.bits_);
  }
  friend constexpr bool operator==(DispatchKeySet, DispatchKeySet) = default;

 private:
  static constexpr uint64_t bits_of(DispatchKey key) {
    int n = static_cast<int>(key);
    uint64_t backend = 0;
    if (n >= kFirstBackendKey) {
      const int run = (n - kFirstBackendKey) / kBackendKeys;
      backend = uint64_t{1} << ((n - kFirstBackendKey) % kBackendKeys);
      n = static_cast<int>(kBackendKeyRuns[run]);
    }
    return backend | uint64_t{1} << (32 + n);
  }

  uint64_t bits_ = 0;
};

// "DispatchKeySet(CPU, AutogradCPU)", with the names of the backends present.
SY_API std::string to_string(DispatchKeySet keys);

}  // namespace sy
