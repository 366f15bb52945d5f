#include <cstdio>
#include <cstring>

#include "memory.h"
#include "names.h"
#include "pinned.h"
#include "streams.h"

namespace accel {
namespace {

// Copies wait for what the streams of the device hold: the host's memory is
// the caller's again when they return.
class Devices final : public sy::DeviceInterface {
 public:
  int device_count() const noexcept override { return DeviceMemory::kDevices; }
  sy::Allocator& allocator(int index) override {
    return DeviceMemory::of(index);
  }

  void copy_from_host(void* dst, const void* src, size_t bytes,
                      int index) override {
    std::memcpy(ready(index, dst, bytes), src, bytes);
  }
  void copy_to_host(void* dst, const void* src, size_t bytes,
                    int index) override {
    std::memcpy(dst, ready(index, src, bytes), bytes);
  }
  void copy_on_device(void* dst, const void* src, size_t bytes,
                      int index) override {
    std::memmove(ready(index, dst, bytes), ready(index, src, bytes), bytes);
  }
  bool copy_across(void* dst, int to, const void* src, int from,
                   size_t bytes) override {
    std::memcpy(ready(to, dst, bytes), ready(from, src, bytes), bytes);
    return true;
  }
  sy::Allocator* pinned_allocator() noexcept override {
    return &PinnedMemory::singleton();
  }
  bool begin_copy(const sy::Storage& dst, size_t dst_first,
                  const sy::Storage& src, size_t src_first, size_t bytes,
                  int index) override {
    accel::begin_copy(dst, dst_first, src, src_first, bytes, index);
    return true;
  }

  bool memory_info(int index, sy::MemoryInfo* out) override {
    out->total = static_cast<int64_t>(DeviceMemory::kCapacity);
    out->free = out->total - DeviceMemory::of(index).stats().allocated;
    return true;
  }
  void synchronize(int index) override {
    Streams::singleton().synchronize(index);
  }
  sy::StreamInterface* streams() noexcept override {
    return &Streams::singleton();
  }
  bool properties(int index, sy::DeviceProperties* out) override {
    std::snprintf(out->name, sizeof out->name, "Simulated " ACCEL_NAME " %d",
                  index);
    out->total_memory = static_cast<int64_t>(DeviceMemory::kCapacity);
    out->compute_units = 1;
    return true;
  }

 private:
  static void* ready(int index, const void* address, size_t bytes) {
    Streams::singleton().drain(index);
    return DeviceMemory::of(index).translate(address, bytes);
  }
};

// Never destroyed: the library may ask for it until the process ends.
Devices& devices() {
  static Devices* const d = new Devices;
  return *d;
}

}  // namespace
}  // namespace accel

ACCEL_DEVICES(m) { m.device(ACCEL_NAME, &accel::devices()); }
