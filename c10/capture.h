#pragma once

#include "c10/intrusive_ptr.h"
#include "c10/macros.h"

namespace sy {

class StorageImpl;
class TensorImpl;

// What a thread tells the code that captures its calls (thread_state.capture),
// beside the calls themselves, which reach it through the dispatcher. Nothing
// is told while kernels run.
class SY_API CaptureHooks {
 public:
  virtual ~CaptureHooks();

  // Memory that did not exist when the capture began. `given`: it is the
  // caller's (StorageImpl::adopt).
  virtual void on_new_memory(const intrusive_ptr<StorageImpl>& s,
                             bool given) = 0;
  // Code outside of kernels is about to have the address of memory. Afterwards
  // its elements must be up to date.
  virtual void on_pointer(StorageImpl& s, const char* asked) = 0;
  // .grad of a tensor is about to be read or set.
  virtual void on_grad(const intrusive_ptr<TensorImpl>& t) = 0;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
};

}  // namespace sy
