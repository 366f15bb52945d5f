#pragma once

// All kernels include this file. Kernels are CUDA C++ that NVRTC, nvcc and, for
// the tests, g++ compile (test/backends/cuda/fake has CUDA's names for the
// host): no headers but those of this folder, no double-underscore tricks
// beside CUDA's own, fixed-width types from here.
//
// A kernel has one argument, a struct that begins with `LaunchHead head`:
//
//   struct FillParams { LaunchHead head; int n; float* out; float value; };
//   SY_KERNEL(fill, FillParams, 256) {
//     for (int i = first_index(); i < p.n; i += index_stride()) ...
//   }
//
// `p` is the argument; 256 the largest block.

#ifdef SY_CUDA_ON_HOST
#include "cuda_on_host.h"  // of the tests
#define SY_KERNEL(name, Params, threads)                             \
  static void name##_body(const Params& p);                          \
  SY_ON_HOST_KERNEL(name, Params, threads)                           \
  void sy_kernel_##name(const void* p) {                             \
    sy::cuda::begin(static_cast<const Params*>(p)->head);            \
    name##_body(*static_cast<const Params*>(p));                     \
  }                                                                  \
  static void name##_body([[maybe_unused]] const Params& p)
#else
#define SY_KERNEL(name, Params, threads)                                \
  static __device__ __forceinline__ void name##_body(const Params& p);  \
  extern "C" __global__ void __launch_bounds__(threads)                 \
      name(const __grid_constant__ Params p) {                          \
    sy::cuda::begin(p.head);                                            \
    name##_body(p);                                                     \
  }                                                                     \
  static __device__ __forceinline__ void name##_body(const Params& p)
#endif

#ifdef __CUDACC_RTC__
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
#else
#include <stddef.h>
#include <stdint.h>
#endif

#include "launch_head.cuh"

namespace sy::cuda {

__device__ __forceinline__ void begin(const LaunchHead& head) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y +
          blockIdx.z ==
      0) {
    *static_cast<volatile unsigned long long*>(head.started) = head.ticket;
  }
}

// Keeps the first error of the device.
__device__ inline void report(const LaunchHead& head, Fault code, int argument,
                              long long value, long long bound) {
  ErrorSlot* const slot = head.errors;
  if (atomicCAS(&slot->code, 0, static_cast<int>(code)) != 0) return;
  slot->argument = argument;
  slot->value = value;
  slot->bound = bound;
  __threadfence_system();
  *static_cast<volatile unsigned long long*>(&slot->ticket) = head.ticket;
}

__device__ __forceinline__ int64_t first_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t index_stride() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

// The launch's dynamic shared memory, aligned to 16 bytes. Kernels declare no
// `extern __shared__` of their own.
__device__ __forceinline__ char* dynamic_shared() {
#ifdef SY_CUDA_ON_HOST
  return sy_on_host::self().shared;
#else
  extern __shared__ __align__(16) char sy_dynamic_shared[];
  return sy_dynamic_shared;
#endif
}

}  // namespace sy::cuda

using namespace sy::cuda;
