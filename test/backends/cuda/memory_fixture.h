#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "backends/cuda/driver/api.h"
#include "backends/cuda/memory/allocator.h"
#include "backends/cuda/runtime/device_state.h"
#include "backends/cuda/runtime/stream.h"
#include "c10/process/error.h"
#include "test/backends/cuda/fake/fake_cuda_control.h"

// For tests of the allocators, on the fake driver that $SWITCHYARD_CUDA_DRIVER
// names. Work of streams is a fill of one byte.

namespace sy::cuda::memory_testing {

// Sets the fake devices, unless the environment says otherwise: three of 256
// MiB each, whose memory the host may touch.
inline const bool fake_devices = [] {
  setenv("FAKE_CUDA_DEVICES", "3", 0);
  setenv("FAKE_CUDA_MEMORY", "256M", 0);
  setenv("FAKE_CUDA_PROTECT", "0", 0);
  setenv("FAKE_CUDA_JUNK", "0", 0);  // it takes most of the time
  return true;
}();

template <class F>
F* control(const char* name) {
  driver::api();
  void* const library =
      dlopen(std::getenv("SWITCHYARD_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  SY_INTERNAL_ASSERT(found != nullptr, "the fake driver lacks {}", name);
  return reinterpret_cast<F*>(found);
}

inline fake_cuda_counters counters() {
  static auto* const count =
      control<decltype(fake_cuda_count)>("fake_cuda_count");
  fake_cuda_counters out;
  count(&out);
  return out;
}

// While it lives, no stream begins a task.
class Paused {
 public:
  Paused() { set(1); }
  ~Paused() { go_on(); }
  void go_on() {
    if (!over_) set(0);
    over_ = true;
  }

 private:
  static void set(int on) {
    control<decltype(fake_cuda_pause)>("fake_cuda_pause")(on);
  }
  bool over_ = false;
};

inline void fail_create(int64_t nth) {
  control<decltype(fake_cuda_fail_create)>("fake_cuda_fail_create")(nth);
}
inline void fail_allocate(int64_t nth) {
  control<decltype(fake_cuda_fail_allocate)>("fake_cuda_fail_allocate")(nth);
}
inline void fail_host_allocate(int64_t nth) {
  control<decltype(fake_cuda_fail_host_allocate)>(
      "fake_cuda_fail_host_allocate")(nth);
}

// Puts work that uses the block into the stream, as a launch does.
inline uint64_t use(Allocator& a, void* data, uint64_t stream, int device = 0) {
  use_device(device);
  driver::Result result = driver::kSuccess;
  const uint64_t ticket = device_state(device).streams.find(stream)->enqueue(
      "fill", true, &result, [&](driver::Stream handle) {
        return driver::api().fill(reinterpret_cast<uint64_t>(data), 1, 1,
                                  handle);
      });
  SY_INTERNAL_ASSERT(ticket != 0, "the driver took no work: {}",
                     static_cast<int>(result));
  a.note_use(data, device, stream, ticket);
  return ticket;
}

inline void finish(int device = 0) { synchronize(device); }

// A stream of the scope.
class NewStream {
 public:
  explicit NewStream(int device = 0)
      : device_(device), number_(stream_interface().create_stream(device)) {}
  ~NewStream() { stream_interface().destroy_stream(device_, number_); }
  NewStream(const NewStream&) = delete;
  operator uint64_t() const { return number_; }

 private:
  int device_;
  uint64_t number_;
};

// Makes the allocator as new: nothing is used, nothing kept, no limit.
class DeviceMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    use_device(0);
    clean();
  }
  void TearDown() override {
    fail_create(0);
    clean();
    EXPECT_EQ(a.stats().allocated, 0);
  }
  void clean() {
    finish();
    a.set_limit(0);
    a.trim();
    a.reset_peak();
  }

  Allocator& a = device_allocator(0);
};

}  // namespace sy::cuda::memory_testing
