#pragma once

#include <cstddef>

#include "aten/tensor.h"

// Work of NVIDIA's libraries, which go by the CUDA runtime, in our streams.

namespace sy::cuda {

struct LibraryWork {
  const char* what;                // names it in errors, for ever
  const char* (*error_text)(int);  // what the library's numbers mean
  // As in StreamState::enqueue().
  bool lasting;
};
using LibraryCall = int (*)(const void* argument, void* stream);

// Puts call(argument, stream) into the thread's stream as one piece of work,
// which uses the room (may be undefined) and the tensors. 0 is success; throws
// for all else.
void enqueue_library(int device, const LibraryWork& work, LibraryCall call,
                     const void* argument, const TensorBase& room,
                     ArrayRef<const TensorBase*> tensors);
// Memory for a library to work in.
Tensor room_of(int device, size_t bytes);

}  // namespace sy::cuda
