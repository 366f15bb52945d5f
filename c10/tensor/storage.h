#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "c10/device/device.h"
#include "c10/dispatch/thread_state.h"
#include "c10/memory/allocator.h"
#include "c10/tensor/intrusive_ptr.h"

namespace sy {

class OperatorEntry;
class LibraryToken;
class StoragePayload;  // c10/tensor/storage_payload.h

namespace detail {
struct StorageExtra;
}

using Deleter = void (*)(void* context);

// The memory of one or more tensors, and what they share: the version counter
// with its last writer, and the payload of a backend that computes the elements
// later. intrusive_ptr counts its owners. Concurrent reads are safe, even if
// they take memory first. A writer raises the version.
class SY_API StorageImpl final : public RefCounted {
 public:
  // Allocates `bytes` on `device`; nothing on Meta. Throws ValueError if there
  // is no such device, OutOfMemoryError.
  static intrusive_ptr<StorageImpl> allocate(size_t bytes, Device device);
  // A CPU storage in the pinned memory of a backend
  // (c10/memory/pinned_memory.h). Throws ValueError if the backend pins none,
  // OutOfMemoryError.
  static intrusive_ptr<StorageImpl> allocate_pinned(size_t bytes,
                                                    DeviceType backend);
  // Takes over memory of the caller. `deleter(context)` frees it in the end;
  // nullptr if nothing is to be freed.
  static intrusive_ptr<StorageImpl> adopt(void* data, size_t bytes,
                                          Device device, Deleter deleter,
                                          void* context);
  // A storage without memory: on Meta, and for backends that keep the elements
  // elsewhere or compute them later.
  static intrusive_ptr<StorageImpl> without_data(size_t bytes, Device device);

  // For kernels only; nullptr without memory. A kernel writes only the
  // arguments that it was given to write, and keeps no pointer, so the memory
  // does not count as handed out.
  void* data() const noexcept { return data_; }
  // The same, while other threads may give the storage memory.
  void* data_acquire() const noexcept {
    return std::atomic_ref<void*>(const_cast<void*&>(data_))
        .load(std::memory_order_acquire);
  }
  // For all other code. If there is no memory yet, takes some as materialize()
  // does, and throws the same errors. `asked` names the caller in messages.
  const void* const_data(const char* asked) {
    void* const data = data_acquire();
    return SY_LIKELY(data != nullptr && thread_state.capture == nullptr)
               ? data
               : data_for(asked);
  }
  void* mutable_data(const char* asked) {
    set_handed_out();
    void* const data = data_acquire();
    return SY_LIKELY(data != nullptr && thread_state.capture == nullptr)
               ? data
               : data_for(asked);
  }
  // Whether mutable_data() was ever called: then code outside of kernels may
  // write to the memory.
  bool is_handed_out() const noexcept {
    return handed_out_.load(std::memory_order_relaxed);
  }
  void set_handed_out() noexcept {
    if (!is_handed_out()) handed_out_.store(true, std::memory_order_relaxed);
  }
  size_t nbytes() const noexcept { return nbytes_; }
  Device device() const noexcept { return device_; }
  // Whether this is memory of the host that a backend pins.
  bool is_pinned() const noexcept;
  // The allocator that frees the memory; nullptr if none does.
  const Allocator* allocator() const noexcept;
  // Whether the memory is the library's own: false for adopted memory.
  bool resizable() const noexcept;
  // Keeps the bytes that both sizes have. Throws Error if the storage is not
  // resizable, OutOfMemoryError, and what materialize() throws.
  void resize(size_t bytes);

  // The data that a backend keeps with this storage; nullptr if there is none.
  // The pointer is valid until the payload is replaced.
  StoragePayload* payload() const noexcept {
    return SY_LIKELY(extra() == nullptr) ? nullptr : payload_of_extra();
  }
  // If other threads know the storage already, only one may call this at a
  // time.
  void set_payload(intrusive_ptr<StoragePayload> payload);
  // Takes over the memory of `from`. This storage then holds `from`; the caller
  // must not use it any more. False: there was memory already, perhaps because
  // another thread gave some. Throws ValueError if `from` has no memory, too
  // little, or lies on another device.
  bool take_memory(intrusive_ptr<StorageImpl> from);
  // The reverse: moves the memory to a new storage and returns that; this one
  // has no memory from now on. This is a write like any other. nullptr if there
  // is no memory. Throws Error if the memory is handed out.
  intrusive_ptr<StorageImpl> give_memory();

  uint32_t version() const noexcept {
    return version_.load(std::memory_order_relaxed);
  }
  // The operator of the last counted write; nullptr at version 0.
  const OperatorEntry* last_writer() const noexcept { return last_writer_; }
  void bump_version(const OperatorEntry* writer) noexcept {
    version_.store(version_.load(std::memory_order_relaxed) + 1,
                   std::memory_order_relaxed);
    last_writer_ = writer;
  }

  // Says that the last write was part of a call of `writer`.
  void set_last_writer(const OperatorEntry* writer) noexcept {
    last_writer_ = writer;
  }

  // For intrusive_ptr.
  void release_resources() noexcept;
  static void destroy(StorageImpl* s) noexcept;

 private:
  // The source of the memory: the low bits of source_. The bits above hold the
  // size of the memory behind this object in its block, in units of 64 bytes.
  // They are 0 for kInline, where nbytes_ says it.
  enum Source : uint8_t {
    kNone,        // no memory
    kInline,      // behind this object, in one block of the pool
    kInlineMore,  // the same, with a side block
    kAllocator,   // of the device, or of a backend's pinned memory
    kAdopted,
    kLent  // of another storage, which this one holds
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

  SY_COLD void* data_for(const char* asked);
  void* materialized(const char* asked);
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
  // State that few storages have, in a block that is made when it is needed.
  std::atomic<detail::StorageExtra*> extra_{nullptr};
  std::atomic<uint32_t> version_{0};
  Device device_;
  uint8_t source_;
  std::atomic<bool> handed_out_{false};
};

static_assert(sizeof(StorageImpl) == 64);

using Storage = intrusive_ptr<StorageImpl>;

}  // namespace sy
