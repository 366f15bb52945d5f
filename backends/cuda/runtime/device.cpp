#include "backends/cuda/backend_gen.h"

#include <cstring>
#include <deque>
#include <string>

#include "aten/tensor.h"
#include "backends/cuda/memory/allocator.h"
#include "backends/cuda/runtime/copy.h"
#include "backends/cuda/runtime/device_state.h"
#include "backends/cuda/runtime/stream.h"
#include "c10/plugin/library.h"
#include "c10/process/error.h"

namespace sy::cuda {
namespace {

// The allocator of a device that nobody has used: looking at its statistics and
// freeing what it does not have makes no context, which would take hundreds of
// megabytes. It is also that of a device that has failed: there is no memory
// any more.
class NoMemory final : public Allocator {
 public:
  explicit NoMemory(int device) : device_(device) {}
  static NoMemory& of(int device) {
    static auto* const all = [] {
      auto* const memory = new std::deque<NoMemory>;  // never destroyed
      for (int i = 0; i < kMaxDevices; ++i) memory->emplace_back(i);
      return memory;
    }();
    return (*all)[static_cast<size_t>(device)];
  }

  // The first use of the device.
  void* allocate(size_t bytes) override { return real().allocate(bytes); }
  void* allocate_on(size_t bytes, uint64_t stream) override {
    return real().allocate_on(bytes, stream);
  }
  void set_limit(int64_t bytes) noexcept override {
    try {
      if (!has_failed(device_)) device_allocator(device_).set_limit(bytes);
    } catch (const Error&) {  // the caller of allocate() hears of it
    }
  }
  // Storages that it was the first to give memory know it for ever.
  void deallocate(void* data, size_t bytes) noexcept override {
    if (is_usable()) device_allocator(device_).deallocate(data, bytes);
  }
  void note_use(const void* data, int device, uint64_t stream,
                uint64_t ticket) noexcept override {
    if (is_usable()) {
      device_allocator(device_).note_use(data, device, stream, ticket);
    }
  }
  MemoryStats stats() const noexcept override {
    return is_usable() ? device_allocator(device_).stats() : MemoryStats{};
  }
  void reset_peak() noexcept override {
    if (is_usable()) device_allocator(device_).reset_peak();
  }
  void trim() noexcept override {
    if (is_usable()) device_allocator(device_).trim();
  }

 private:
  bool is_usable() const noexcept {
    return used_device(device_) != nullptr && !has_failed(device_);
  }
  Allocator& real() const {
    device_state(device_).errors.throw_failure();
    return device_allocator(device_);
  }
  const int device_;
};

class Devices final : public DeviceInterface {
 public:
  int device_count() const noexcept override { return cuda::device_count(); }
  Allocator& allocator(int index) override {
    SY_CHECK(index >= 0 && index < device_count(), Value, "{}",
             device_count() == 0
                 ? std::string(why_no_devices())
                 : str("[cuda] device: expected an index in [0, {}], got {}",
                       device_count() - 1, index));
    const DeviceState* const d = used_device(index);
    return SY_LIKELY(d != nullptr && d->errors.failure() == nullptr)
               ? device_allocator(index)
               : static_cast<Allocator&>(NoMemory::of(index));
  }

  void copy_from_host(void* dst, const void* src, size_t bytes,
                      int index) override {
    cuda::copy_from_host(index, dst, src, bytes);
  }
  void copy_to_host(void* dst, const void* src, size_t bytes,
                    int index) override {
    cuda::copy_to_host(index, dst, src, bytes);
  }
  void copy_on_device(void* dst, const void* src, size_t bytes,
                      int index) override {
    cuda::copy_on_device(index, dst, src, bytes);
  }
  bool copy_across(void* dst, int to, const void* src, int from,
                   size_t bytes) override {
    cuda::copy_across(dst, to, src, from, bytes);
    return true;
  }
  bool begin_copy(const Storage& dst, size_t dst_first, const Storage& src,
                  size_t src_first, size_t bytes, int index) override {
    return cuda::begin_copy(index, dst, dst_first, src, src_first, bytes);
  }
  Allocator* pinned_allocator() noexcept override {
    return cuda::device_count() == 0 ? nullptr : &cuda::pinned_allocator();
  }

  void synchronize(int index) override { cuda::synchronize(index); }
  StreamInterface* streams() noexcept override { return &stream_interface(); }

  bool properties(int index, DeviceProperties* out) override {
    const DeviceState& d = device_state(index);
    driver::check(
        driver::api().device_name(out->name, sizeof out->name, d.ordinal),
        "cuDeviceGetName");
    size_t bytes = 0;
    driver::check(driver::api().device_memory(&bytes, d.ordinal),
                  "cuDeviceTotalMem");
    out->total_memory = static_cast<int64_t>(bytes);
    out->compute_units = d.limits.multiprocessors;
    out->version[0] = d.limits.compute_major;
    out->version[1] = d.limits.compute_minor;
    return true;
  }

  bool memory_info(int index, MemoryInfo* out) override {
    DeviceState& d = device_state(index);
    enter_device(d);
    size_t free = 0, total = 0;
    check(d, driver::api().memory_info(&free, &total), "cuMemGetInfo");
    out->free = static_cast<int64_t>(free);
    out->total = static_cast<int64_t>(total);
    return true;
  }

  // Other code that the thread calls may ask the driver itself. A device that
  // nobody has used gets its context with its first work.
  void set_device(int index) noexcept override {
    DeviceState* const d = used_device(index);
    if (d == nullptr || d->errors.failure() != nullptr) return;
    try {
      use_device(index);
    } catch (const Error&) {  // the work that follows hears of it
    }
  }
};

}  // namespace

DeviceInterface& devices() {
  static auto* const d = new Devices;
  return *d;
}

// The text as bytes of a tensor, for <sy/cuda.h>.
static Tensor why_unavailable() {
  const std::string_view why = why_no_devices();
  Tensor out(
      make_tensor({static_cast<int64_t>(why.size())}, kByte, Device(kCPU)));
  if (!why.empty()) std::memcpy(out.raw_data(), why.data(), why.size());
  return out;
}

}  // namespace sy::cuda

SY_LIBRARY(cuda, m) {
  m.def("why_unavailable() -> Tensor", SY_FN(sy::cuda::why_unavailable));
}
