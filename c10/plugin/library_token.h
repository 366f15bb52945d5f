#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "c10/device.h"
#include "c10/macros.h"

namespace sy {

// Stands for one shared object that registered something (or for the library
// and what is linked with it). Whoever keeps a pointer into its code beyond a
// call holds the token; unload() is refused while anyone does. Never freed.
class SY_API LibraryToken {
 public:
  enum Holder : uint8_t {
    kStorage,    // memory that its allocator or deleter must free
    kGraphNode,  // autograd nodes whose code it is
    kHook,
    kObject,  // anything else that a user made of it
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

// The library whose code `address` lies in, as far as it registered anything;
// nullptr for the library itself and what is linked to the program.
SY_API LibraryToken* plugin_of_backend(DeviceType t) noexcept;
// By an address that is one per shared object, &__dso_handle of its code.
SY_API LibraryToken* plugin_of(const void* dso) noexcept;

}  // namespace sy
