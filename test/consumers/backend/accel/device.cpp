#include <cstring>

#include "memory.h"
#include "names.h"

namespace accel {
namespace {

class Devices final : public sy::DeviceInterface {
 public:
  sy::Allocator& allocator(int) override { return memory(); }

  void copy_from_host(void* dst, const void* src, size_t bytes, int) override {
    std::memcpy(memory().translate(dst, bytes), src, bytes);
  }
  void copy_to_host(void* dst, const void* src, size_t bytes, int) override {
    std::memcpy(dst, memory().translate(src, bytes), bytes);
  }
  void copy_on_device(void* dst, const void* src, size_t bytes, int) override {
    std::memmove(memory().translate(dst, bytes), memory().translate(src, bytes),
                 bytes);
  }

 private:
  static DeviceMemory& memory() { return DeviceMemory::singleton(); }
};

// Never destroyed: the library may ask for it until the process ends.
Devices& devices() {
  static Devices* const d = new Devices;
  return *d;
}

}  // namespace
}  // namespace accel

ACCEL_DEVICES(m) { m.device(ACCEL_NAME, &accel::devices()); }
