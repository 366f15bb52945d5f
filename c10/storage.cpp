#include "c10/storage.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "c10/backend.h"
#include "c10/cpu_memory.h"
#include "c10/device_guard.h"
#include "c10/error.h"
#include "c10/plugin/library_token.h"
#include "c10/pool_fast.h"

namespace sy {
namespace {

// Up to here the elements lie in the storage's own block. Not under
// AddressSanitizer, which is to see writes beyond them.
constexpr size_t kInlineBytes =
    SY_ASAN != 0 ? 0 : kPoolMaxBytes - sizeof(StorageImpl);

// What fail_allocation() asks for. While it does, every storage takes the way
// that counts: nothing is inline.
std::atomic<size_t> inline_bytes{kInlineBytes};
std::atomic<bool> counts{false};
std::atomic<int64_t> until_failure{0};

void count_allocation(size_t bytes) {
  if (!counts.load(std::memory_order_relaxed)) return;
  SY_CHECK(until_failure.fetch_sub(1, std::memory_order_relaxed) != 1,
           OutOfMemory, "allocating ", bytes, " bytes fails, as a test asks");
}

int index_of(Device d) { return with_index(d).index(); }

Allocator& allocator_of(Device device) {
  DeviceInterface& i = device_interface(device.type());
  const int count = i.device_count();
  SY_CHECK(index_of(device) < count, Value,
           "[allocate] device: expected one of ", count, " '",
           backend_device_name(device.type()), "' devices, got '", device, "'");
  return i.allocator(index_of(device));
}

}  // namespace

StorageImpl* StorageImpl::make(void* data, size_t bytes, Device device,
                               Source source) {
  void* block = detail::pool_get(sizeof(StorageImpl));
  return new (block) StorageImpl(data, bytes, device, source);
}

intrusive_ptr<StorageImpl> StorageImpl::allocate_inline(size_t bytes,
                                                        Device device) {
  const size_t units = (bytes + 63) / 64;
  void* block = detail::pool_get(sizeof(StorageImpl) + 64 * units, bytes);
  auto* s =
      new (block) StorageImpl(static_cast<char*>(block) + sizeof(StorageImpl),
                              bytes, device, Source::Inline);
  s->inline_units_ = static_cast<uint8_t>(units);
  return intrusive_ptr<StorageImpl>::reclaim(s);
}

intrusive_ptr<StorageImpl> StorageImpl::allocate(size_t bytes, Device device) {
  if (SY_LIKELY(device.is_cpu() &&
                bytes - 1 < inline_bytes.load(std::memory_order_relaxed))) {
    return allocate_inline(bytes, device);
  }
  return allocate_apart(bytes, device);
}

intrusive_ptr<StorageImpl> StorageImpl::allocate_apart(size_t bytes,
                                                       Device device) {
  if (device.is_meta()) return without_data(bytes, device);
  if (device.is_cpu()) count_allocation(bytes);
  return allocate_by(device.is_cpu() ? cpu_allocator() : allocator_of(device),
                     device.type(), bytes, device);
}

intrusive_ptr<StorageImpl> StorageImpl::allocate_pinned(size_t bytes,
                                                        DeviceType backend) {
  Allocator* const a = device_interface(backend).pinned_allocator();
  SY_CHECK(a != nullptr, Value, "[allocate] device '",
           backend_device_name(backend), "' pins no memory of the host");
  count_allocation(bytes);
  return allocate_by(*a, backend, bytes, Device(kCPU));
}

intrusive_ptr<StorageImpl> StorageImpl::allocate_by(Allocator& allocator,
                                                    DeviceType owner,
                                                    size_t bytes,
                                                    Device device) {
  auto s = intrusive_ptr<StorageImpl>::reclaim(
      make(nullptr, 0, device, Source::Allocator));
  s->allocator_ = &allocator;
  s->hold_owner(owner);
  s->data_ = allocator.allocate(bytes);
  s->nbytes_ = bytes;
  return s;
}

bool StorageImpl::is_pinned() const noexcept {
  return device_.is_cpu() && source_ == Source::Allocator &&
         allocator_ != &cpu_allocator();
}

intrusive_ptr<StorageImpl> StorageImpl::adopt(void* data, size_t bytes,
                                              Device device, Deleter deleter,
                                              void* context) {
  auto s = intrusive_ptr<StorageImpl>::reclaim(
      make(data, bytes, device, Source::Adopted));
  s->deleter_ = deleter;
  s->deleter_context_ = context;
  s->hold_owner(device.type());
  return s;
}

intrusive_ptr<StorageImpl> StorageImpl::without_data(size_t bytes,
                                                     Device device) {
  return intrusive_ptr<StorageImpl>::reclaim(
      make(nullptr, bytes, device, Source::None));
}

void StorageImpl::hold_owner(DeviceType backend) noexcept {
  if (backend == kCPU) return;
  owner_ = plugin_of_backend(backend);
  if (owner_ != nullptr) owner_->hold(LibraryToken::kStorage);
}

void StorageImpl::resize(size_t bytes) {
  SY_CHECK(resizable(), Error,
           "[resize] storage: its memory was given by the caller and cannot "
           "be resized from ",
           nbytes_, " to ", bytes, " bytes");
  if (bytes == nbytes_) return;
  if (source_ == Source::None) {
    nbytes_ = bytes;
    return;
  }
  const bool was_inline = source_ == Source::Inline;
  Allocator& a = was_inline ? cpu_allocator() : *allocator_;
  void* data = a.allocate(bytes);
  const size_t common = std::min(bytes, nbytes_);
  if (common != 0) {
    if (device_.is_cpu()) {
      std::memcpy(data, data_, common);
    } else {
      try {
        DeviceInterface& i = device_interface(device_.type());
        i.copy_on_device(data, data_, common, index_of(device_));
        i.synchronize(index_of(device_));
      } catch (...) {
        a.deallocate(data, bytes);
        throw;
      }
    }
  }
  if (was_inline) {
    detail::pool_uncount(nbytes_);
    source_ = Source::Allocator;
    allocator_ = &a;
  } else if (data_ != nullptr) {
    a.deallocate(data_, nbytes_);
  }
  data_ = data;
  nbytes_ = bytes;
}

// Memory beside the object goes with the last strong owner.
void StorageImpl::release_resources() noexcept {
  if (source_ == Source::Allocator) {
    if (data_ != nullptr) allocator_->deallocate(data_, nbytes_);
  } else if (source_ == Source::Adopted) {
    if (deleter_ != nullptr) deleter_(deleter_context_);
  } else {
    return;
  }
  data_ = nullptr;
  nbytes_ = 0;
  source_ = Source::None;
  if (owner_ != nullptr) {
    std::exchange(owner_, nullptr)->drop(LibraryToken::kStorage);
  }
}

void StorageImpl::destroy(StorageImpl* s) noexcept {
  const size_t block = sizeof(StorageImpl) + 64 * size_t{s->inline_units_};
  if (SY_LIKELY(s->source_ == Source::Inline)) {
    detail::pool_put(s, block, s->nbytes_);
    return;
  }
  s->release_resources();
  detail::pool_put(s, block);
}

int64_t fail_allocation(int64_t nth) noexcept {
  const int64_t left = until_failure.exchange(nth, std::memory_order_relaxed);
  counts.store(nth > 0, std::memory_order_relaxed);
  inline_bytes.store(nth > 0 ? 0 : kInlineBytes, std::memory_order_relaxed);
  return left > 0 ? left : 0;
}

}  // namespace sy
