#pragma once

#include <cstdint>

// The interface of ema.cu for other files. It includes nothing of Switchyard's,
// so nvcc need not understand it.

namespace own_cuda {

// Puts the kernel into a stream, a cudaStream_t. Memory is that of the device;
// rows of n numbers each are one behind the other. Returns an error of CUDA, or
// nullptr.
const char* launch_ema(const float* x, float* y, int64_t rows, int64_t n,
                       double keep, void* stream);

}  // namespace own_cuda
