#include "test/backends/cuda/fake/on_host/checked.h"

#include "test/backends/cuda/fake/emulator/executor.h"

// For programs with kernels of their own, which compile them with
// -fsanitize=thread. Where the whole program is, that library has these.

#ifndef __SANITIZE_THREAD__
SY_ON_HOST_CHECKED(fake_cuda::checked_access)
#endif
