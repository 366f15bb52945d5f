#pragma once

// CUDA's words in declarations. Include this after everything that includes the
// C++ library, which has attributes of the same names.

#define __device__
#define __host__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __constant__
#define __managed__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// Blocks that run at the same time are on different threads of the host, and
// the coroutines of a block on one. The driver fills these variables with junk
// before blocks.
#define __shared__ static thread_local

// The names by which the driver looks kernels up. A name of the C library
// (`index`) can be a kernel's all the same.
#define SY_ON_HOST_KERNEL(name, Params, threads)                               \
  extern "C" {                                                                 \
  __attribute__((                                                              \
      visibility("default"))) extern const ::sy_on_host ::KernelInfo           \
      sy_kernel_info_##name;                                                   \
  const ::sy_on_host::KernelInfo sy_kernel_info_##name{                        \
      sizeof(Params), alignof(Params), threads};                               \
  __attribute__((visibility("default"))) void sy_kernel_##name(const void* p); \
  }
