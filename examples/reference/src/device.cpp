#include <sy/library.h>

#include <cstdlib>
#include <cstring>

namespace reference {
namespace {

// Host memory under another name: a copy is a memcpy.
class Devices final : public sy::DeviceInterface, public sy::Allocator {
 public:
  sy::Allocator& allocator(int) override { return *this; }
  void copy_from_host(void* dst, const void* src, size_t n, int) override {
    if (n != 0) std::memcpy(dst, src, n);
  }
  void copy_to_host(void* dst, const void* src, size_t n, int) override {
    if (n != 0) std::memcpy(dst, src, n);
  }
  void copy_on_device(void* dst, const void* src, size_t n, int) override {
    if (n != 0) std::memmove(dst, src, n);
  }
  void* allocate(size_t bytes) override {
    if (bytes == 0) return nullptr;
    void* const p = bytes > PTRDIFF_MAX / 2
                        ? nullptr
                        : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    SY_CHECK(p != nullptr, OutOfMemory, "[reference] no memory for {} bytes",
             bytes);
    return p;
  }
  void deallocate(void* p, size_t) noexcept override { std::free(p); }
};

// Never destroyed: the library may ask for it until the process ends.
Devices& devices() {
  static auto* const d = new Devices;
  return *d;
}

}  // namespace
}  // namespace reference

SY_BACKEND(Reference, m) { m.device("reference", &reference::devices()); }
