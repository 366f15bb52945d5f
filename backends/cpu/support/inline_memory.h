#pragma once

#include "c10/device/device.h"
#include "c10/tensor/storage.h"

namespace sy::cpu {

// Working memory of a call, aligned to 64 bytes, not initialised. Up to kInline
// bytes are on the stack; more come from the CPU's allocator.
template <int64_t kInline>
class InlineMemory {
 public:
  explicit InlineMemory(int64_t bytes) {
    if (bytes > kInline) {
      storage_ =
          StorageImpl::allocate(static_cast<size_t>(bytes), Device(kCPU));
    }
  }
  InlineMemory(const InlineMemory&) = delete;
  InlineMemory& operator=(const InlineMemory&) = delete;

  char* data() {
    return storage_ ? static_cast<char*>(storage_->data()) : inline_;
  }

 private:
  alignas(64) char inline_[kInline];
  Storage storage_;
};

}  // namespace sy::cpu
