#pragma once

#include "c10/device.h"
#include "c10/intrusive_ptr.h"
#include "c10/macros.h"

namespace sy {

class LibraryToken;
class StorageImpl;

// What a backend keeps with a storage: the value that its elements will have
// once they are computed, or where they lie. It belongs to the storage, so that
// a tensor and its views share it. The library of the backend is not unloaded
// while it lives.
class SY_API StoragePayload : public RefCounted {
 public:
  virtual ~StoragePayload();

  // Gives `storage` memory with its elements (StorageImpl::take_memory). Called
  // when somebody outside of kernels asks for them and the storage has no
  // memory; the library holds no lock. Threads that ask at once all call it:
  // it is the backend's to let one work and the others wait, and memory that a
  // second one gives is not taken. What it throws reaches who asked.
  virtual void materialize(StorageImpl& storage) = 0;
  // For messages: "the result of aten::mul".
  virtual const char* describe() const noexcept { return "a payload"; }

  // For intrusive_ptr.
  static void destroy(StoragePayload* p) noexcept;

 protected:
  explicit StoragePayload(DeviceType backend) noexcept;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }

  LibraryToken* owner_;
};

// Gives the storage memory, by its payload, if it has none yet: what reads
// elements outside of kernels calls first (data_ptr, item, printing, saving,
// DLPack, copies to the host). `asked` names it in messages. Throws ValueError
// if there is nothing that would give memory, and what the payload throws.
SY_API void materialize(StorageImpl& storage, const char* asked);

}  // namespace sy
