#pragma once

#include <cstdlib>
#include <cstring>

#include "c10/device/backend.h"
#include "c10/process/error.h"

namespace sy {

// A device in host memory, for backends of the tests.
class HostDevice : public DeviceInterface, public Allocator {
 public:
  Allocator& allocator(int) override { return *this; }
  void copy_from_host(void* to, const void* from, size_t n, int) override {
    if (n != 0) std::memcpy(to, from, n);
  }
  void copy_to_host(void* to, const void* from, size_t n, int) override {
    if (n != 0) std::memcpy(to, from, n);
  }
  void copy_on_device(void* to, const void* from, size_t n, int) override {
    if (n != 0) std::memmove(to, from, n);
  }
  // Memory has room for a kernel that runs over the end.
  void* allocate(size_t n) override {
    if (n == 0) return nullptr;
    void* const p = std::aligned_alloc(64, (n + 127) / 64 * 64);
    SY_CHECK(p != nullptr, OutOfMemory, "no memory for {} bytes", n);
    return p;
  }
  void deallocate(void* p, size_t) noexcept override { std::free(p); }
};

}  // namespace sy
