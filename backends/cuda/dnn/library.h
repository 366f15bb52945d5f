#pragma once

#include <mutex>
#include <string>

#include "backends/cuda/dnn/api.h"
#include "backends/cuda/driver/library.h"

// NVIDIA's cuDNN, which is opened when the first convolution asks for it: of
// $SWITCHYARD_CUDA_LIBS, the loader's path, the toolkit or a Python's packages.
// $SWITCHYARD_CUDA_DNN: off, or a file. Without it our own kernels convolve.
// $SWITCHYARD_CUDA_DNN_LOG=1: a line on stderr for each plan and each refusal.

namespace sy::cuda::dnn {

struct Plans;  // plan.h

// The state of a device. The library is asked under the mutex alone.
struct Session {
  std::mutex mutex;
  Handle handle = nullptr;
  // A device that is described (kDeviceProperties), instead of a handle, for
  // plans that are made where there is none.
  Descriptor device = nullptr;
  Plans* plans = nullptr;  // never destroyed
};

struct Library {
  const Api* api = nullptr;
  Session* session = nullptr;

  explicit operator bool() const { return api != nullptr; }
};
// The library for a device, whose context is the thread's then. Empty if our
// own kernels must do. Thread-safe.
Library library(int device) noexcept;

// Looks up all functions. False, and why, if one is not there.
bool find_functions(const driver::Library& from, Api* api, std::string* why);
// "CUDNN_STATUS_BAD_PARAM (2000): what the library says of it", for an error of
// this thread.
std::string error_of(const Api& api, Result error);

// Counts a plan that was made or was not, and logs the line that tells it.
void note_plan(const std::string& line);
void note_refusal(const std::string& line);

// The line of `sy doctor`: where the library is, or why it is not used; how
// many plans there are, and what was refused last.
std::string describe();

// Reads the variable and opens the library again. For tests; nobody may use it
// meanwhile.
void reopen();

}  // namespace sy::cuda::dnn
