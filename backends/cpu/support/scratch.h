#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "c10/device/device.h"
#include "c10/process/error.h"
#include "c10/tensor/storage.h"

namespace sy::cpu {

// Memory of the CPU's allocator, which counts against the memory limit. Throws
// OutOfMemoryError.
template <class T>
struct ScratchAllocator {
  using value_type = T;

  ScratchAllocator() = default;
  template <class U>
  ScratchAllocator(const ScratchAllocator<U>&) noexcept {}  // NOLINT

  T* allocate(size_t n) {
    SY_CHECK(n <= (PTRDIFF_MAX - kHead) / sizeof(T), OutOfMemory,
             "expected room for {} elements", n);
    Storage s = StorageImpl::allocate(kHead + n * sizeof(T), Device(kCPU));
    char* const block = static_cast<char*>(s->data());
    new (block) Storage(std::move(s));
    return reinterpret_cast<T*>(block + kHead);
  }
  void deallocate(T* data, size_t) noexcept {
    auto* const held =
        reinterpret_cast<Storage*>(reinterpret_cast<char*>(data) - kHead);
    const Storage last = std::move(*held);
    held->~Storage();
  }
  template <class U>
  friend bool operator==(const ScratchAllocator&,
                         const ScratchAllocator<U>&) noexcept {
    return true;
  }

 private:
  // The block holds its storage, and the elements are aligned to 64 bytes.
  static constexpr size_t kHead = 64;
};

// Working memory of a call that grows with its arguments.
template <class T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

// Bytes that are not initialised, aligned to 64.
class ScratchBytes {
 public:
  void reset(size_t n) { storage_ = StorageImpl::allocate(n, Device(kCPU)); }
  char* get() const {
    return storage_ ? static_cast<char*>(storage_->data()) : nullptr;
  }

 private:
  Storage storage_;
};

}  // namespace sy::cpu
