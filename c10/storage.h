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
class StoragePayload;  // c10/storage_payload.h

namespace detail {
struct StorageExtra;
}

using Deleter = void (*)(void* context);

// The memory of one or more tensors, and what all tensors over it share: the
// version counter with its last writer, and the payload of a backend that
// computes the elements later. Counted by intrusive_ptr. Concurrent reads are
// safe, taking memory for them included; the version is bumped by whoever
// writes.
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
  // No memory: Meta, and tensors whose backend keeps its data elsewhere or
  // computes it later.
  static intrusive_ptr<StorageImpl> without_data(size_t bytes, Device device);

  // nullptr without memory. For kernels, which write what they were given to
  // write and keep no pointer: it counts as handed out to nobody.
  void* data() const noexcept { return data_; }
  // The same while other threads may be giving memory.
  void* data_acquire() const noexcept {
    return std::atomic_ref<void*>(const_cast<void*&>(data_))
        .load(std::memory_order_acquire);
  }
  // For everybody but kernels: takes memory first if there is none yet, as
  // materialize() does, and throws what it throws.
  const void* const_data(const char* asked) {
    void* const data = data_acquire();
    return SY_LIKELY(data != nullptr) ? data : materialized(asked);
  }
  void* mutable_data(const char* asked) {
    set_handed_out();
    void* const data = data_acquire();
    return SY_LIKELY(data != nullptr) ? data : materialized(asked);
  }
  // Whether mutable_data() was ever called: somebody may write to the memory
  // without a kernel.
  bool is_handed_out() const noexcept {
    return handed_out_.load(std::memory_order_relaxed);
  }
  void set_handed_out() noexcept {
    if (!is_handed_out()) handed_out_.store(true, std::memory_order_relaxed);
  }
  size_t nbytes() const noexcept { return nbytes_; }
  Device device() const noexcept { return device_; }
  // Memory of the host that some backend pins.
  bool is_pinned() const noexcept;
  // That frees the memory; nullptr if none does by itself.
  const Allocator* allocator() const noexcept;
  // Whether the memory is the library's own.
  bool resizable() const noexcept;
  // Keeps the common prefix. Throws Error if the storage is not resizable,
  // OutOfMemoryError.
  void resize(size_t bytes);

  // What a backend keeps with this storage; nullptr if nothing. The pointer is
  // good until the payload is replaced.
  StoragePayload* payload() const noexcept {
    return SY_LIKELY(extra() == nullptr) ? nullptr : payload_of_extra();
  }
  // Of a storage that others see already: by one thread at a time.
  void set_payload(intrusive_ptr<StoragePayload> payload);
  // The memory of `from`, which is held and given up by the caller, becomes
  // this one's. False: there was memory already, maybe since another thread
  // gave some. Throws ValueError if `from` has none, too little, or lies on
  // another device.
  bool take_memory(intrusive_ptr<StorageImpl> from);
  // The other way: the memory in a storage of its own, this one has none from
  // now on. A write like any other. nullptr if there is none. Throws Error if
  // it is handed out.
  intrusive_ptr<StorageImpl> give_memory();

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
  // Where the memory is from. In the low bits of source_; above them, unless it
  // is Inline, in units of 64 bytes what lies behind this object in its block.
  enum Source : uint8_t {
    kNone,        // no memory
    kInline,      // behind this object, in one block of the pool
    kInlineMore,  // the same, with a side block
    kAllocator,   // of the device, or of a backend's pinned memory
    kAdopted,
    kLent  // another storage's, which this one holds
  };
  static constexpr uint8_t kSourceMask = 15;
  static constexpr int kUnitsShift = 4;

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
  void drop_owner() noexcept;

  SY_COLD void* materialized(const char* asked);
  Source source() const noexcept;
  void set_source(Source source) noexcept;
  detail::StorageExtra* extra() const noexcept {
    return extra_.load(std::memory_order_acquire);
  }
  detail::StorageExtra& need_extra();
  StoragePayload* payload_of_extra() const noexcept;
  void free_extra() noexcept;
  void release_memory() noexcept;
  SY_NOINLINE static void destroy_other(StorageImpl* s) noexcept;

  void* data_;
  size_t nbytes_;
  Allocator* allocator_ = nullptr;
  LibraryToken* owner_ = nullptr;  // the plugin whose code must free it
  const OperatorEntry* last_writer_ = nullptr;
  // What few storages have: a side block, made when it is first needed.
  std::atomic<detail::StorageExtra*> extra_{nullptr};
  std::atomic<uint32_t> version_{0};
  Device device_;
  uint8_t source_;
  std::atomic<bool> handed_out_{false};
};

static_assert(sizeof(StorageImpl) == 64);

using Storage = intrusive_ptr<StorageImpl>;

}  // namespace sy
