#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "aten/tensor.h"
#include "c10/allocator.h"
#include "c10/backend.h"
#include "c10/device_guard.h"
#include "c10/dispatcher.h"
#include "c10/stream.h"

// GPUs by CUDA. A program links nothing of it: the library is loaded, and the
// driver with it.
//
//   auto cuda = sy::load_library("cuda");
//   if (!sy::cuda::is_available()) puts(sy::cuda::why_unavailable().c_str());
//   Tensor x = randn({64, 128}).to("cuda");     // runs after the call
//   std::cout << (x * 2).sum().item<float>();   // waits
//
// Streams and events are those of c10/stream.h. Functions that take a device
// accept "cuda", the thread's current one, and "cuda:1"; they throw ValueError
// if there is no such device. Any thread may call them.

namespace sy::cuda {

// 0 too while the library is not loaded.
inline int device_count() { return sy::device_count("cuda"); }
inline bool is_available() { return cuda::device_count() > 0; }
// Why there is no device: no library, no driver, an old one, no GPU. "" if
// there is one.
inline std::string why_unavailable() {
  if (loaded_interface(kCUDA) == nullptr) return why_not_loaded(kCUDA);
  const Tensor t = typed_operator<Tensor()>("cuda::why_unavailable").call();
  return {static_cast<const char*>(t.const_data_ptr()),
          static_cast<size_t>(t.numel())};
}

inline int current_device() { return sy::current_device(kCUDA); }
inline void set_device(int index) {
  set_current_device(Device(kCUDA, static_cast<int8_t>(index)));
}
// Waits for all work of the device; then throws the first error of a kernel.
inline void synchronize(Device device = Device(kCUDA)) {
  sy::synchronize(device);
}

// Makes the device the current one until the end of the scope.
class DeviceGuard : public sy::DeviceGuard {
 public:
  explicit DeviceGuard(int index)
      : sy::DeviceGuard(Device(kCUDA, static_cast<int8_t>(index))) {}
};
using StreamGuard = sy::StreamGuard;

// ---- memory, in bytes ----

inline MemoryStats memory_stats(Device device = Device(kCUDA)) {
  return sy::memory_stats(with_index(device));
}
inline int64_t memory_allocated(Device device = Device(kCUDA)) {
  return cuda::memory_stats(device).allocated;
}
// With what is kept for reuse.
inline int64_t memory_reserved(Device device = Device(kCUDA)) {
  const MemoryStats s = cuda::memory_stats(device);
  return s.allocated + s.cached;
}
inline int64_t max_memory_allocated(Device device = Device(kCUDA)) {
  return cuda::memory_stats(device).peak;
}
inline void reset_peak_memory_stats(Device device = Device(kCUDA)) {
  sy::reset_peak_memory_stats(with_index(device));
}
// 0: no limit.
inline void set_memory_limit(int64_t bytes, Device device = Device(kCUDA)) {
  sy::set_memory_limit(bytes, with_index(device));
}
// Gives memory that nobody uses back to the driver, on all devices.
inline void empty_cache() {
  for (int i = 0; i < cuda::device_count(); ++i) {
    trim_memory(Device(kCUDA, static_cast<int8_t>(i)));
  }
}

// ---- kernels of your own ----

// The thread's stream as CUDA's own type, a cudaStream_t or CUstream; its
// device's context is the thread's afterwards:
//
//   auto s = static_cast<cudaStream_t>(sy::cuda::native_stream());
//   my_kernel<<<blocks, threads, 0, s>>>(...);
inline void* native_stream(Device device = Device(kCUDA)) {
  return Stream::current(device).native_handle();
}

// Says that kernels which the caller has put into the thread's stream use the
// tensors' memory, so that it is not used for anything else before they are
// done. Only tensors that were made in another stream need it.
inline void note_kernels(std::initializer_list<TensorBase> tensors) {
  for (const TensorBase& t : tensors) {
    if (!t.defined() || !t.is_cuda() || !t.storage()) continue;
    const Stream stream = Stream::current(t.device());
    stream.record();  // has a ticket, behind those kernels
    const int index = t.device().index();
    StreamInterface* const s = device_interface(kCUDA).streams();
    note_use(*t.storage(), index, stream.id(),
             s->last_ticket(index, stream.id()));
  }
}

}  // namespace sy::cuda
