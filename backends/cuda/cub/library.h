#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "aten/tensor.h"
#include "backends/cuda/cub/api.h"
#include "backends/cuda/runtime/library_work.h"

// libswitchyard_cuda_cub.so (api.h), which is there if the library was built
// where there is nvcc. $SWITCHYARD_CUDA_CUB: off, or another file. Without it,
// our own kernels give the same results.

namespace sy::cuda::cub {

// The least number of elements for which CUB takes the place of our own
// kernels: estimates, which no GPU has confirmed yet (NAME and NAME_own of
// benchmarks/cuda).
struct Least {
  int64_t sort_row = int64_t{1} << 15;  // of a row that is sorted alone
  int64_t sort_rows = 1024;             // of each of many rows
  int64_t select = int64_t{1} << 20;    // flags
  int64_t sum = int64_t{1} << 14;       // numbers
  int64_t count = int64_t{1} << 16;     // numbers
};
// The numbers of the process. Tests change them, before anything else runs.
Least& least() noexcept;

// The functions for a device, whose context is the thread's then; nullptr if
// our own kernels must do. Opens the library on the first use.
const SwitchyardCub* functions(int device) noexcept;

// Notes that the functions do not work on the device.
void give_up(int device, int error) noexcept;
// enqueue_library() of a call of one of the functions, which is counted.
void enqueue(int device, const char* what, LibraryCall call,
             const void* argument, const TensorBase& room,
             ArrayRef<const TensorBase*> tensors);

// f(room, &bytes, stream) is a call of one of the functions. It is asked for
// its workspace, gets one, and goes into the thread's stream. False if the
// functions do not work on the device: nothing was done. `what` names the work
// in errors, for ever.
template <class F>
bool run(int device, const char* what, const F& f,
         std::initializer_list<const TensorBase*> tensors) {
  size_t bytes = 0;
  if (const int error = f(nullptr, &bytes, nullptr); error != 0) {
    give_up(device, error);
    return false;
  }
  const Tensor room = room_of(device, bytes);
  struct Argument {
    const F& f;
    void* room;
    size_t bytes;
  } argument{f, room.raw_data(), bytes};
  enqueue(
      device, what,
      [](const void* a, void* stream) {
        auto with = *static_cast<const Argument*>(a);
        return with.f(with.room, &with.bytes, stream);
      },
      &argument, room, tensors);
  return true;
}

// The line of `sy doctor`: where the library is, or why it is not used.
std::string describe();

// How many pieces of work were put into streams so far. For tests.
int64_t calls() noexcept;

// Reads the variable and opens the library again. For tests; nobody may use it
// meanwhile.
void reopen();

}  // namespace sy::cuda::cub
