#include "test/backends/cuda/fake/on_host/checked.h"

#include "test/backends/cuda/fake/emulator/executor.h"

// The functions for programs that compile kernels of their own with
// -fsanitize=thread. A program that is compiled so as a whole has them from
// TSan's library.

#ifndef __SANITIZE_THREAD__
SY_ON_HOST_CHECKED(fake_cuda::checked_access)
#endif
