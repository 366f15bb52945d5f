#pragma once

#include <any>
#include <functional>

#include "aten/tensor.h"
#include "c10/intrusive_ptr.h"

extern "C" void* __dso_handle;  // one per shared object

namespace sy::autograd {

struct SavedHooks;

// While it lives, in this thread: each tensor that is saved for a gradient goes
// through `pack`, and what that returns is kept in its place until `unpack`
// makes the tensor again, as often as the node asks; equal in size, dtype and
// device. The innermost of several acts alone. `pack` gets a tensor without
// history; it must not write to it, and runs without recording. A write to the
// original later is not noticed.
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
