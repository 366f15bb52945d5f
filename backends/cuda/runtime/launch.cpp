#include "backends/cuda/runtime/launch.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "backends/cuda/runtime/device_state.h"
#include "backends/cuda/runtime/stream.h"
#include "c10/device/device_guard.h"
#include "c10/device/stream.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cuda {

using driver::api;
using driver::Result;

namespace {

// More dynamic shared memory than this is allowed to kernels that ask.
constexpr unsigned kPlainShared = 48 << 10;

bool waits_after_launches() {
  static const bool waits = [] {
    const char* const mode = environment("SWITCHYARD_CHECK");
    return mode != nullptr && std::strcmp(mode, "sync") == 0;
  }();
  return waits;
}

SY_COLD void allow_shared(DeviceState& device, const Function& f,
                          unsigned bytes) {
  const std::atomic_ref limit(const_cast<unsigned&>(f.shared_limit));
  if (bytes <= limit.load(std::memory_order_relaxed)) return;
  const Result r = api().function_set(f.handle, driver::kMaxDynamicShared,
                                      static_cast<int>(bytes));
  SY_CHECK(r == driver::kSuccess || driver::is_fault(r), Error,
           "[{}] kernel {}: expected at most {} bytes of shared memory, got {}",
           running_operator_name(), f.name, device.limits.shared_per_block,
           bytes);
  check(device, r, "cuFuncSetAttribute");
  limit.store(bytes, std::memory_order_relaxed);
}

[[noreturn]] SY_COLD void fail_launch(DeviceState& device, Result r,
                                      const Function& f, const LaunchShape& s) {
  // The fault is that of an earlier launch.
  if (driver::is_fault(r)) check(device, r, "cuLaunchKernel");
  fail(r == driver::kOutOfMemory ? ErrorKind::OutOfMemory : ErrorKind::Error,
       "[{}] kernel {} did not start: {}; grid {} x {} x {}, block {} x {} x "
       "{}, {} bytes of shared memory",
       running_operator_name(), f.name, driver::result_text(r), s.grid.x,
       s.grid.y, s.grid.z, s.block.x, s.block.y, s.block.z, s.shared_bytes);
}

// A kernel would fault on memory of another device, and the device be lost.
[[noreturn]] SY_COLD void fail_device(Device of_tensor, int device) {
  fail(ErrorKind::Value,
       "[{}] expected all tensors on one device, got one on {} in a call on "
       "cuda:{}",
       running_operator_name(), of_tensor, device);
}

void note_operand(LaunchRecord* r, const TensorBase* const* tensors,
                  size_t n) noexcept {
  r->num_dims = -1;
  for (size_t i = 0; i < n; ++i) {
    if (tensors[i] == nullptr || !tensors[i]->defined()) continue;
    const TensorImpl& t = *tensors[i]->impl();
    const IntArrayRef sizes = t.sizes();
    r->num_dims = static_cast<int8_t>(sizes.size());
    r->dtype = t.dtype();
    for (size_t d = 0; d < sizes.size() && d < LaunchRecord::kDims; ++d) {
      r->sizes[d] = sizes[d];
    }
    return;
  }
}

}  // namespace

// The part of a launch that needs a stream's inside.
class Launcher {
 public:
  // The ticket; 0 if the driver refused.
  static uint64_t start(DeviceState& device, StreamState& s, const Function& f,
                        const LaunchShape& shape, void* params,
                        const TensorBase* const* tensors, size_t n,
                        Result* result) {
    auto* const head = static_cast<LaunchHead*>(params);
    void* argument[] = {params};
    const std::lock_guard lock(s.mutex_);
    const uint64_t ticket = s.last_.load(std::memory_order_relaxed) + 1;
    head->started = s.started_on_device_;
    head->ticket = s.place_ << StreamState::kPlaceShift | ticket;
    head->errors = device.errors.slot_on_device();
    LaunchRecord& r = s.record(ticket);
    r.kernel = f.name;
    r.grid[0] = shape.grid.x;
    r.grid[1] = shape.grid.y;
    r.grid[2] = shape.grid.z;
    r.threads = shape.block.x * shape.block.y * shape.block.z;
    note_operand(&r, tensors, n);
    const auto run = [&] {
      return api().launch(f.handle, shape.grid.x, shape.grid.y, shape.grid.z,
                          shape.block.x, shape.block.y, shape.block.z,
                          shape.shared_bytes, s.handle_, argument, nullptr);
    };
    *result = run();
    // Other code of the process may have set another context.
    if (SY_UNLIKELY(*result == driver::kInvalidContext ||
                    *result == driver::kInvalidHandle)) {
      enter_device(device);
      *result = run();
    }
    if (SY_UNLIKELY(*result != driver::kSuccess)) return 0;
    // A thread that waits for the stream takes what it reads here for done.
    s.last_kernel_.store(ticket, std::memory_order_relaxed);
    s.last_.store(ticket, std::memory_order_release);
    return ticket;
  }
};

void launch(int device, const Function& f, const LaunchShape& shape,
            void* params, size_t params_bytes, const TensorBase* const* tensors,
            size_t num_tensors) {
  SY_INTERNAL_ASSERT(params_bytes >= sizeof(LaunchHead));
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return;
  for (size_t i = 0; i < num_tensors; ++i) {
    if (tensors[i] == nullptr || !tensors[i]->defined()) continue;
    const Device of = tensors[i]->device();
    if (SY_UNLIKELY(of.is_cuda() && of.index() != device)) {
      fail_device(of, device);
    }
  }
  use_device(device);
  DeviceState& d = *used_device(device);
  StreamState& s = current_stream_state(d);
  if (SY_UNLIKELY(shape.shared_bytes > kPlainShared)) {
    allow_shared(d, f, shape.shared_bytes);
  }
  Result result = driver::kSuccess;
  const uint64_t ticket =
      Launcher::start(d, s, f, shape, params, tensors, num_tensors, &result);
  if (SY_UNLIKELY(ticket == 0)) fail_launch(d, result, f, shape);
  const uint64_t number = s.number();
  for (size_t i = 0; i < num_tensors; ++i) {
    if (tensors[i] == nullptr || !tensors[i]->defined()) continue;
    const Storage& storage = tensors[i]->storage();
    if (storage) note_use(*storage, device, number, ticket);
  }
  // Reported errors are looked up while the stream knows their launches.
  if (SY_UNLIKELY(d.errors.reported())) d.errors.take();
  if (SY_UNLIKELY(waits_after_launches())) {
    stream_interface().synchronize_stream(device, number);
  }
}

}  // namespace sy::cuda
