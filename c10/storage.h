#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "c10/allocator.h"
#include "c10/device.h"
#include "c10/intrusive_ptr.h"

namespace sy {

class OperatorEntry;
class LibraryToken;

using Deleter = void (*)(void* context);

// The memory of one or more tensors, and what all tensors over it share: the
// version counter with its last writer. Counted by intrusive_ptr. Concurrent
// reads are safe; the version is bumped by whoever writes.
class SY_API StorageImpl final : public RefCounted {
 public:
  // Allocates `bytes` on `device`. Throws OutOfMemoryError.
  static intrusive_ptr<StorageImpl> allocate(size_t bytes, Device device);
  // A CPU storage in the pinned memory of a backend (c10/pinned_memory.h).
  // Throws ValueError if that has none, OutOfMemoryError.
  static intrusive_ptr<StorageImpl> allocate_pinned(size_t bytes,
                                                    DeviceType backend);
  // Takes over memory of the caller; `deleter(context)` runs at the end.
  static intrusive_ptr<StorageImpl> adopt(void* data, size_t bytes,
                                          Device device, Deleter deleter,
                                          void* context);
  // No memory: Meta, and tensors whose backend keeps its data elsewhere.
  static intrusive_ptr<StorageImpl> without_data(size_t bytes, Device device);

  void* data() const noexcept { return data_; }
  size_t nbytes() const noexcept { return nbytes_; }
  Device device() const noexcept { return device_; }
  // Memory of the host that some backend pins.
  bool is_pinned() const noexcept;
  // That frees the memory; nullptr if none does by itself.
  const Allocator* allocator() const noexcept {
    return source_ == Source::Allocator ? allocator_ : nullptr;
  }
  // Whether the memory is the library's own.
  bool resizable() const noexcept { return source_ != Source::Adopted; }
  // Keeps the common prefix. Throws Error if the storage is not resizable,
  // OutOfMemoryError.
  void resize(size_t bytes);

  uint32_t version() const noexcept {
    return version_.load(std::memory_order_relaxed);
  }
  // Who wrote last by a counted write; nullptr at version 0.
  const OperatorEntry* last_writer() const noexcept { return last_writer_; }
  void bump_version(const OperatorEntry* writer) noexcept {
    version_.store(version_.load(std::memory_order_relaxed) + 1,
                   std::memory_order_relaxed);
    last_writer_ = writer;
  }

  // The last write was a part of what `writer` does.
  void set_last_writer(const OperatorEntry* writer) noexcept {
    last_writer_ = writer;
  }

  // For intrusive_ptr.
  void release_resources() noexcept;
  static void destroy(StorageImpl* s) noexcept;

 private:
  enum class Source : uint8_t {
    None,       // no memory
    Inline,     // behind this object, in one block of the pool
    Allocator,  // of the device, or of a backend's pinned memory
    Adopted
  };

  StorageImpl(void* data, size_t bytes, Device device, Source source) noexcept
      : data_(data), nbytes_(bytes), device_(device), source_(source) {}
  ~StorageImpl() = default;
  static StorageImpl* make(void* data, size_t bytes, Device device,
                           Source source);
  static intrusive_ptr<StorageImpl> allocate_inline(size_t bytes,
                                                    Device device);
  static intrusive_ptr<StorageImpl> allocate_apart(size_t bytes, Device device);
  static intrusive_ptr<StorageImpl> allocate_by(Allocator& allocator,
                                                DeviceType owner, size_t bytes,
                                                Device device);
  void hold_owner(DeviceType backend) noexcept;

  void* data_;
  size_t nbytes_;
  union {
    Allocator* allocator_ = nullptr;
    void* deleter_context_;
  };
  Deleter deleter_ = nullptr;
  LibraryToken* owner_ = nullptr;  // the plugin whose code must free it
  const OperatorEntry* last_writer_ = nullptr;
  std::atomic<uint32_t> version_{0};
  Device device_;
  Source source_;
  uint8_t inline_units_ = 0;  // of 64 bytes behind this object
};

static_assert(sizeof(StorageImpl) == 64);

using Storage = intrusive_ptr<StorageImpl>;

}  // namespace sy
