#pragma once

#include "c10/device/device.h"
#include "c10/macros.h"
#include "c10/tensor/intrusive_ptr.h"

namespace sy {

class LibraryToken;
class StorageImpl;

// The data that a backend keeps with a storage: the value that its elements
// will have once they are computed, or where they are. It belongs to the
// storage, so a tensor and its views share it. The backend's library is not
// unloaded while the payload lives.
class SY_API StoragePayload : public RefCounted {
 public:
  virtual ~StoragePayload();

  // Computes the elements and gives `storage` memory with them
  // (StorageImpl::take_memory). Called when code outside of kernels asks for
  // elements and the storage has no memory. The library holds no lock: several
  // threads may call it at once, and the backend may let one work while the
  // others wait. The storage takes the first memory; for later ones
  // take_memory() returns false. Exceptions reach the code that asked.
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

// If the storage has no memory yet, its payload gives it some. Code outside of
// kernels calls this before it reads elements (data_ptr, item, printing,
// saving, DLPack, copies to the host); `asked` names that code in messages.
// Does nothing on Meta and for 0 bytes. Throws ValueError if there is neither
// memory nor a payload, and what the payload throws.
SY_API void materialize(StorageImpl& storage, const char* asked);

}  // namespace sy
