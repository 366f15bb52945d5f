#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "c10/device/backend.h"
#include "c10/device/device_guard.h"
#include "c10/device/stream.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/memory/allocator.h"

// GPUs by CUDA. A program links nothing of it: the library is loaded, and the
// driver with it.
//
//   auto cuda = sy::load_library("cuda");
//   if (!sy::cuda::is_available()) puts(sy::cuda::why_unavailable().c_str());
//   Tensor x = randn({64, 128}).to("cuda");     // runs after the call
//   std::cout << (x * 2).sum().item<float>();   // waits
//
// Streams and events are those of c10/device/stream.h. Functions that take a
// device accept "cuda", the thread's current one, and "cuda:1"; they throw
// ValueError if there is no such device. Any thread may call them.

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
// The bytes handed out, and those kept for reuse.
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

// ---- numbers ----

// Whether products of float32 may be made by TF32, which keeps 10 bits of each
// operand's mantissa and is several times faster. The setting is off at first,
// and holds for the process.
inline void set_allow_tf32(bool allow) {
  typed_operator<void(bool)>("cuda::set_allow_tf32").call(allow);
}
inline bool allow_tf32() {
  return typed_operator<bool()>("cuda::allow_tf32").call();
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

// ---- kernels of your own that are compiled while the program runs ----

// The compiler's errors in a source that it was given.
class SY_API CompileError : public Error {
 public:
  CompileError(std::string_view name, std::string log)
      : Error(str("[cuda.compile] {} does not compile:\n{}", name, log)),
        log_(std::move(log)) {}
  // The messages of the compiler, with lines of the source.
  const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

// Blocks of a grid, or threads of a block.
struct Dim3 {
  int64_t x, y, z;
  Dim3(int64_t of_x, int64_t of_y = 1, int64_t of_z = 1)
      : x(of_x), y(of_y), z(of_z) {}
};

// An argument of a kernel: a tensor on the device, or a number.
class KernelArgument {
 public:
  KernelArgument(const Tensor& t) : tensor_(t), kind_(0) {}
  template <std::integral T>
  KernelArgument(T n) : kind_(1), bits_(static_cast<int64_t>(n)) {}
  template <std::floating_point T>
  KernelArgument(T n)
      : kind_(2), bits_(std::bit_cast<int64_t>(static_cast<double>(n))) {}

 private:
  friend class Kernel;
  Tensor tensor_;
  int64_t kind_, bits_ = -1;
};

// A kernel that compile() has made. A value; any thread may launch it.
class Kernel {
 public:
  const std::string& name() const noexcept { return name_; }

  // Puts the kernel into the thread's current stream, on the device of the
  // tensors or, without any, on the current one. Their memory is not used for
  // anything else before it is done, and tensors that a parameter without const
  // takes count as changed (but get no gradient of it). An undefined tensor is
  // a null pointer. A grid without blocks starts nothing.
  //
  // Throws ValueError and TypeError for arguments that the parameters do not
  // take, for tensors of other devices, and after the library was unloaded;
  // Error for what the driver refuses, such as too many threads. Later errors
  // name the kernel.
  void launch(Dim3 grid, Dim3 block,
              std::initializer_list<KernelArgument> arguments,
              int64_t shared_bytes = 0) const {
    std::vector<int64_t> words;
    std::vector<Tensor> tensors;
    for (const KernelArgument& a : arguments) {
      words.push_back(a.kind_);
      words.push_back(a.bits_);
      if (a.kind_ != 0 || !a.tensor_.defined()) continue;
      words.back() = static_cast<int64_t>(tensors.size());
      tensors.push_back(a.tensor_);
    }
    const int64_t shape[] = {grid.x,  grid.y,  grid.z,      block.x,
                             block.y, block.z, shared_bytes};
    if (loaded_interface(kCUDA) == nullptr) throw Error(why_not_loaded(kCUDA));
    using Launch = void(int64_t, IntArrayRef, IntArrayRef, TensorList);
    typed_operator<Launch>("cuda::launch_kernel")
        .call(number_, shape, words, tensors);
  }

 private:
  friend Kernel compile(std::string_view source, std::string_view name);
  Kernel(int64_t number, std::string_view name)
      : number_(number), name_(name) {}
  int64_t number_;
  std::string name_;
};

// Compiles `void name(...)` of a text in CUDA C++, `__global__` or not, for the
// current device; other devices do so at their first launch:
//
//   const sy::cuda::Kernel axpy = sy::cuda::compile(R"(
//     __global__ void axpy(int64_t n, float a, const float* x, float* y) {
//       const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
//       if (i < n) y[i] += a * x[i];
//     })", "axpy");
//   axpy.launch((n + 255) / 256, 256, {n, 0.5, x, y});
//
// Parameters are numbers and pointers to the elements of tensors; `const float*
// x` takes float32. `half16` and `bfloat16` of "element.cuh" are elements of 16
// bits, `const void*` takes any. Strides are the caller's business.
// `dynamic_shared()` is the shared memory of `shared_bytes`. No headers of CUDA
// are there; --fmad=false.
//
// The cache folder keeps what was compiled, by its text, so that another
// process need not compile it. Compiling the same again costs a lookup. Throws
// CompileError for what the compiler says, ValueError for a text without such a
// function, and Error where there is no compiler or no device.
inline Kernel compile(std::string_view source, std::string_view name) {
  if (loaded_interface(kCUDA) == nullptr) throw Error(why_not_loaded(kCUDA));
  if (!is_available()) throw Error(why_unavailable());
  using Compile = Tensor(std::string_view, std::string_view);
  const Tensor t =
      typed_operator<Compile>("cuda::compile_kernel").call(source, name);
  const auto* const bytes = static_cast<const char*>(t.const_data_ptr());
  const auto n = static_cast<size_t>(t.numel());
  int64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  if (n != sizeof number) {
    throw CompileError(name, {bytes + sizeof number, n - sizeof number});
  }
  return {number, name};
}

}  // namespace sy::cuda
