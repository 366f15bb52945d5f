#include "device.h"

#include <sy/library.h>

#include <cstring>
#include <utility>

#include "memory.h"

namespace sample {
namespace {

// The device that this thread's next calls of the driver are for. A real driver
// keeps it.
thread_local int current = 0;

// Sets the device for the copies, which name theirs.
class OnDevice {
 public:
  explicit OnDevice(int index) : before_(std::exchange(current, index)) {}
  ~OnDevice() { current = before_; }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_;
};

class Devices final : public sy::DeviceInterface {
 public:
  int device_count() const noexcept override { return kDevices; }
  sy::Allocator& allocator(int index) override {
    check(index);
    return Memory::of(index);
  }

  void copy_from_host(void* dst, const void* src, size_t bytes,
                      int index) override {
    const OnDevice device(index);
    if (bytes != 0) std::memcpy(dst, src, bytes);
  }
  void copy_to_host(void* dst, const void* src, size_t bytes,
                    int index) override {
    const OnDevice device(index);
    if (bytes != 0) std::memcpy(dst, src, bytes);
  }
  void copy_on_device(void* dst, const void* src, size_t bytes,
                      int index) override {
    const OnDevice device(index);
    if (bytes != 0) std::memmove(dst, src, bytes);
  }
  // Kernels run with the device of their arguments set, if there are several.
  void set_device(int index) noexcept override { current = index; }
  // Waits until what kernels and copies have begun is done.
  void synchronize(int index) override { check(index); }

  static void check(int index) {
    SY_CHECK(index >= 0 && index < kDevices, Value,
             "[sample] device: expected 0 to {}, got {}", kDevices - 1, index);
  }
};

// Never destroyed: the library may ask for it until the process ends.
Devices& devices() {
  static auto* const d = new Devices;
  return *d;
}

}  // namespace

}  // namespace sample

SY_BACKEND(Sample, m) { m.device("sample", &sample::devices()); }
