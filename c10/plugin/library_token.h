#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "c10/device/device.h"
#include "c10/macros.h"

namespace sy {

// Stands for one shared object, program or RuntimeLibrary that registered
// something. An object that keeps a pointer into its code beyond a call holds
// the token; unload() is refused as long as anyone does. Never freed.
class SY_API LibraryToken {
 public:
  enum Holder : uint8_t {
    kStorage,    // memory that its allocator or deleter must free
    kGraphNode,  // autograd nodes that run its code
    kHook,
    kObject,  // anything else that a user made with it
    kHolders
  };

  LibraryToken(std::string name, const void* dso)
      : name_(std::move(name)), dso_(dso) {}
  const std::string& name() const { return name_; }
  const void* dso() const { return dso_; }
  void hold(Holder h) noexcept {
    holders_[h].fetch_add(1, std::memory_order_relaxed);
  }
  void drop(Holder h) noexcept {
    holders_[h].fetch_sub(1, std::memory_order_release);
  }
  int64_t held(Holder h) const noexcept {
    return holders_[h].load(std::memory_order_acquire);
  }
  // "2 storages, 1 graph node", or "" if free.
  std::string holders() const;

 private:
  std::string name_;
  const void* dso_;
  std::atomic<int64_t> holders_[kHolders] = {};
};

// The token of the library that registered the backend; nullptr for CPU and
// Meta, and if the backend is not present.
SY_API LibraryToken* plugin_of_backend(DeviceType t) noexcept;
// The token of the shared object with the address `dso`, &__dso_handle of its
// code; nullptr for the library itself, and for an object that registered
// nothing.
SY_API LibraryToken* plugin_of(const void* dso) noexcept;

}  // namespace sy
