#include <atomic>
#include <cstdlib>

#include "c10/plugin/library.h"

// A backend with its own allocator, whose tensors hold the library.

namespace {

class Memory final : public sy::Allocator {
 public:
  void* allocate(size_t bytes) override {
    return bytes == 0 ? nullptr
                      : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void deallocate(void* data, size_t) noexcept override { std::free(data); }
};

class Devices final : public sy::DeviceInterface {
 public:
  sy::Allocator& allocator(int) override { return memory_; }
  void copy_from_host(void* d, const void* s, size_t n, int) override {
    __builtin_memcpy(d, s, n);
  }
  void copy_to_host(void* d, const void* s, size_t n, int) override {
    __builtin_memcpy(d, s, n);
  }
  void copy_on_device(void* d, const void* s, size_t n, int) override {
    __builtin_memcpy(d, s, n);
  }

 private:
  Memory memory_;
};

Devices devices;
int64_t answer(const sy::TensorBase&) { return 43; }

}  // namespace

SY_BACKEND(Beta, m) { m.device("beta", &devices); }
SY_LIBRARY_IMPL(host, Beta, m) { m.impl("answer", SY_FN(answer)); }
