#pragma once

#include <string>

#include "backends/cuda/blas/api.h"

// NVIDIA's cuBLASLt, which is opened when the first product asks for it: of
// $SWITCHYARD_CUDA_LIBS, the loader's path, the toolkit or a Python's packages.
// $SWITCHYARD_CUDA_BLAS: off, or a file. Without it our own kernels multiply.

namespace sy::cuda::blas {

// The library for a device, whose context is the thread's then.
struct Library {
  const Api* api = nullptr;
  Handle handle = nullptr;

  explicit operator bool() const { return api != nullptr; }
};
// Empty if our own kernels must do. Thread-safe.
Library library(int device) noexcept;
// Notes that it does not work on the device.
void give_up(int device, Result error) noexcept;

// The line of `sy doctor`: where the library is, or why it is not used.
std::string describe();

// Reads the variable and opens the library again. For tests; nobody may use it
// meanwhile.
void reopen();

}  // namespace sy::cuda::blas
