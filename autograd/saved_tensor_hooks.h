#pragma once

#include <any>
#include <functional>

#include "aten/tensor.h"
#include "c10/tensor/intrusive_ptr.h"

extern "C" void* __dso_handle;  // one per shared object

namespace sy::autograd {

struct SavedHooks;

// While it lives, in this thread: each tensor that is saved for a gradient goes
// through `pack`, and the node keeps the result of `pack` instead. `unpack`
// makes the tensor again, as often as the node asks. Its result must have the
// same size, dtype and device. Only the innermost of several guards acts.
// `pack` gets a tensor without history, must not write to it, and runs without
// recording. A later write to the original is not noticed.
class SY_API SavedTensorHooks {
 public:
  using Pack = std::function<std::any(const Tensor&)>;
  using Unpack = std::function<Tensor(const std::any&)>;
  SavedTensorHooks(Pack pack, Unpack unpack,
                   const char* file = __builtin_FILE(),
                   int line = __builtin_LINE(),
                   const void* dso = &__dso_handle);
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

 private:
  intrusive_ptr<SavedHooks> hooks_;
  SavedHooks* before_;
};

}  // namespace sy::autograd
