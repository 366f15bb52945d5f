#pragma once

// CUDA's names for kernels that g++ compiles: threads of a block are coroutines
// of the emulator (emulator/executor.h). device/kernel.cuh includes it under
// SY_CUDA_ON_HOST. It brings the headers of the C library that NVRTC has built
// in; tests include it after all others, since __noinline__ is a macro then.

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(SY_ON_HOST_UNCHECKED)
#error Kernels for the host are compiled with CHECKED_KERNEL_COPTS of fake.bzl, \
    so that races are seen; SY_ON_HOST_UNCHECKED says that none are looked for.
#endif

#include "on_host/vectors.h"
// The parts below use what stands above them.
#include "on_host/thread.h"
// The thread's view of the others.
#include "on_host/atomics.h"
#include "on_host/sync.h"
// The thread's own computations.
#include "on_host/bits.h"
#include "on_host/math.h"
#include "on_host/memory.h"
// Last: __noinline__ and its kin.
#include "on_host/qualifiers.h"
