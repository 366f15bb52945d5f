#pragma once

#include <cstddef>

#include "backends/cuda/driver/api.h"

// The images that cuModuleLoadData is given: a shared object that the fake
// NVRTC made, or something else, which it refuses as the driver refuses what is
// not for it.

namespace fake_cuda {

// kSuccess for a shared object of the host, whose size is written.
sy::cuda::driver::Result classify_image(const void* image, size_t* bytes);

// Remembers and counts it, for fake_cuda_refused_image().
void note_refused(const void* image);

}  // namespace fake_cuda
