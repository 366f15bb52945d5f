#include "c10/tensor/storage.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "c10/device/backend.h"
#include "c10/device/device_guard.h"
#include "c10/device/missing_devices.h"
#include "c10/dispatch/capture.h"
#include "c10/memory/cpu_memory.h"
#include "c10/memory/pool_fast.h"
#include "c10/plugin/library_token.h"
#include "c10/process/error.h"
#include "c10/process/fork.h"
#include "c10/tensor/storage_payload.h"

namespace sy {
namespace {

// Elements of up to so many bytes lie in the storage's own block, but not under
// AddressSanitizer, which is to see writes beyond them.
constexpr size_t kInlineBytes =
    SY_ASAN != 0 ? 0 : kPoolMaxBytes - sizeof(StorageImpl);

// The state of fail_allocation(). While it asks for a failure, every storage
// takes the way that counts: nothing is inline.
std::atomic<size_t> inline_bytes{kInlineBytes};
std::atomic<bool> counts{false};
std::atomic<int64_t> until_failure{0};

void count_allocation(size_t bytes) {
  if (!counts.load(std::memory_order_relaxed)) return;
  SY_CHECK(until_failure.fetch_sub(1, std::memory_order_relaxed) != 1,
           OutOfMemory, "allocating {} bytes fails, as a test asks", bytes);
}

int index_of(Device d) { return with_index(d).index(); }

Allocator& allocator_of(Device device) {
  DeviceInterface& i = device_interface(device.type());
  const int count = i.device_count();
  SY_CHECK(count > 0, Value, "[allocate] device: {}",
           no_device_text(device.type()));
  SY_CHECK(index_of(device) < count, Value,
           "[allocate] device: expected one of {} '{}' devices, got '{}'",
           count, backend_device_name(device.type()), device);
  return i.allocator(index_of(device));
}

}  // namespace

// State that few storages have.
struct detail::StorageExtra {
  // The deleter of adopted memory, and its context.
  Deleter deleter = nullptr;
  void* context = nullptr;
  ForkMutex mutex;  // guards what follows, and taking memory
  std::atomic<StoragePayload*> payload{nullptr};  // owned
  Storage lender;                                 // whose memory this is

  ~StorageExtra() {
    intrusive_ptr<StoragePayload>::reclaim(
        payload.load(std::memory_order_relaxed));
  }
};

using detail::StorageExtra;

namespace {

StorageExtra* new_extra() {
  return new (detail::pool_get(sizeof(StorageExtra))) StorageExtra;
}

void put_back(StorageExtra* e) noexcept {
  e->~StorageExtra();
  detail::pool_put(e, sizeof(StorageExtra));
}

}  // namespace

StorageImpl* StorageImpl::make(void* data, size_t bytes, Device device,
                               Source source) {
  void* block = detail::pool_get(sizeof(StorageImpl));
  return new (block) StorageImpl(data, bytes, device, source);
}

intrusive_ptr<StorageImpl> StorageImpl::allocate_inline(size_t bytes,
                                                        Device device) {
  void* block = detail::pool_get(sizeof(StorageImpl) + bytes, bytes);
  return intrusive_ptr<StorageImpl>::reclaim(new (block) StorageImpl(
      static_cast<char*>(block) + sizeof(StorageImpl), bytes, device, kInline));
}

intrusive_ptr<StorageImpl> StorageImpl::allocate(size_t bytes, Device device) {
  const bool small =
      SY_LIKELY(device.is_cpu() &&
                bytes - 1 < inline_bytes.load(std::memory_order_relaxed));
  auto s =
      small ? allocate_inline(bytes, device) : allocate_apart(bytes, device);
  if (SY_UNLIKELY(thread_state.capture != nullptr)) {
    thread_state.capture->on_new_memory(s, false);
  }
  return s;
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
  SY_CHECK(a != nullptr, Value,
           "[allocate] device '{}' pins no memory of the host",
           backend_device_name(backend));
  count_allocation(bytes);
  return allocate_by(*a, backend, bytes, Device(kCPU));
}

intrusive_ptr<StorageImpl> StorageImpl::allocate_by(Allocator& allocator,
                                                    DeviceType owner,
                                                    size_t bytes,
                                                    Device device) {
  auto s =
      intrusive_ptr<StorageImpl>::reclaim(make(nullptr, 0, device, kAllocator));
  s->allocator_ = &allocator;
  s->hold_owner(owner);
  s->data_ = allocator.allocate(bytes);
  s->nbytes_ = bytes;
  return s;
}

intrusive_ptr<StorageImpl> StorageImpl::adopt(void* data, size_t bytes,
                                              Device device, Deleter deleter,
                                              void* context) {
  auto s = without_data(bytes, device);
  if (deleter != nullptr) {
    StorageExtra* const extra = new_extra();
    s->extra_.store(extra, std::memory_order_relaxed);
    extra->deleter = deleter;
    extra->context = context;
  }
  s->data_ = data;
  s->source_ = kAdopted;
  s->hold_owner(device.type());
  if (SY_UNLIKELY(thread_state.capture != nullptr)) {
    thread_state.capture->on_new_memory(s, true);
  }
  return s;
}

intrusive_ptr<StorageImpl> StorageImpl::without_data(size_t bytes,
                                                     Device device) {
  return intrusive_ptr<StorageImpl>::reclaim(
      make(nullptr, bytes, device, kNone));
}

void StorageImpl::hold_owner(DeviceType backend) noexcept {
  if (backend == kCPU) return;
  owner_ = plugin_of_backend(backend);
  if (owner_ != nullptr) owner_->hold(LibraryToken::kStorage);
}

void StorageImpl::drop_owner() noexcept {
  if (owner_ != nullptr) {
    std::exchange(owner_, nullptr)->drop(LibraryToken::kStorage);
  }
}

StorageImpl::Source StorageImpl::source() const noexcept {
  return static_cast<Source>(
      std::atomic_ref<uint8_t>(const_cast<uint8_t&>(source_))
          .load(std::memory_order_relaxed) &
      kSourceMask);
}

// Call this before nbytes_ changes: it says how large the block of kInline is.
void StorageImpl::set_source(Source source) noexcept {
  const size_t units =
      source_ == kInline ? (nbytes_ + 63) / 64 : source_ >> kUnitsShift;
  std::atomic_ref<uint8_t>(source_).store(
      static_cast<uint8_t>(units << kUnitsShift | source),
      std::memory_order_relaxed);
}

StorageExtra& StorageImpl::need_extra() {
  if (StorageExtra* const e = extra()) return *e;
  StorageExtra* const made = new_extra();
  StorageExtra* other = nullptr;
  if (!extra_.compare_exchange_strong(other, made, std::memory_order_acq_rel)) {
    put_back(made);
    return *other;
  }
  if (source_ == kInline) set_source(kInlineMore);
  return *made;
}

bool StorageImpl::is_pinned() const noexcept {
  const Source s = source();
  if (s == kLent) return extra()->lender->is_pinned();
  return device_.is_cpu() && s == kAllocator && allocator_ != &cpu_allocator();
}

const Allocator* StorageImpl::allocator() const noexcept {
  const Source s = source();
  if (s == kLent) return extra()->lender->allocator();
  return s == kAllocator ? allocator_ : nullptr;
}

bool StorageImpl::resizable() const noexcept {
  const Source s = source();
  return s == kLent ? extra()->lender->resizable() : s != kAdopted;
}

void StorageImpl::resize(size_t bytes) {
  SY_CHECK(resizable(), Error,
           "[resize] storage: its memory was given by the caller and cannot be "
           "resized from {} to {} bytes",
           nbytes_, bytes);
  if (bytes == nbytes_) return;
  if (source() == kNone && payload() != nullptr) materialized("resize");
  const Source from = source();
  if (from == kNone) {
    nbytes_ = bytes;
    return;
  }
  Allocator& a = from == kAllocator ? *allocator_
                 : device_.is_cpu() ? cpu_allocator()
                                    : allocator_of(device_);
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
  if (from == kAllocator) {
    if (data_ != nullptr) a.deallocate(data_, nbytes_);
  } else if (from == kLent) {
    extra()->lender.reset();
    hold_owner(device_.type());
  } else {
    detail::pool_uncount(nbytes_);
  }
  set_source(kAllocator);
  allocator_ = &a;
  data_ = data;
  nbytes_ = bytes;
}

StoragePayload* StorageImpl::payload_of_extra() const noexcept {
  return extra()->payload.load(std::memory_order_acquire);
}

void StorageImpl::set_payload(intrusive_ptr<StoragePayload> payload) {
  if (!payload && extra() == nullptr) return;
  StorageExtra& e = need_extra();
  intrusive_ptr<StoragePayload> before;
  const std::lock_guard lock(e.mutex);
  before = intrusive_ptr<StoragePayload>::reclaim(
      e.payload.exchange(payload.release(), std::memory_order_acq_rel));
}

bool StorageImpl::take_memory(intrusive_ptr<StorageImpl> from) {
  SY_CHECK(
      from && from->data_acquire() != nullptr, Value,
      "[take_memory] from: expected a storage with memory, got one without");
  SY_CHECK(from->device_ == device_ && from->nbytes_ >= nbytes_, Value,
           "[take_memory] from: expected at least {} bytes on {}, got {} bytes "
           "on {}",
           nbytes_, device_, from->nbytes_, from->device_);
  StorageExtra& e = need_extra();
  const std::lock_guard lock(e.mutex);
  if (data_acquire() != nullptr) return false;
  if (from->is_handed_out()) handed_out_.store(true, std::memory_order_relaxed);
  void* const data = from->data_;
  e.lender = std::move(from);
  set_source(kLent);
  std::atomic_ref<void*>(data_).store(data, std::memory_order_release);
  return true;
}

intrusive_ptr<StorageImpl> StorageImpl::give_memory() {
  if (data_ == nullptr) return {};
  SY_CHECK(
      !is_handed_out(), Error,
      "[give_memory] storage: expected memory that nobody writes to but "
      "kernels, got {} bytes on {} whose address was handed out by data_ptr()",
      nbytes_, device_);
  intrusive_ptr<StorageImpl> out;
  const Source from = source();
  if (from == kLent) {
    out = std::move(extra()->lender);
  } else if (from == kInline || from == kInlineMore) {
    out = allocate(nbytes_, device_);
    std::memcpy(out->data_, data_, nbytes_);
    detail::pool_uncount(nbytes_);
  } else {
    out = without_data(nbytes_, device_);
    StorageExtra* const mine = from == kAdopted ? extra() : nullptr;
    if (mine != nullptr && mine->deleter != nullptr) {
      StorageExtra& its = out->need_extra();
      its.deleter = std::exchange(mine->deleter, nullptr);
      its.context = mine->context;
    }
    out->set_source(from);
    out->allocator_ = allocator_;
    out->owner_ = std::exchange(owner_, nullptr);
    out->data_ = data_;
  }
  set_source(kNone);
  data_ = nullptr;
  return out;
}

void* StorageImpl::data_for(const char* asked) {
  if (thread_state.capture != nullptr) {
    thread_state.capture->on_pointer(*this, asked);
  }
  void* const data = data_acquire();
  return data != nullptr ? data : materialized(asked);
}

void* StorageImpl::materialized(const char* asked) {
  if (nbytes_ == 0 || device_.is_meta()) return data_acquire();
  intrusive_ptr<StoragePayload> payload;
  if (StorageExtra* const e = extra()) {
    const std::lock_guard lock(e->mutex);
    payload = intrusive_ptr<StoragePayload>::retain(
        e->payload.load(std::memory_order_relaxed));
  }
  if (!payload) {
    void* const data = data_acquire();  // given meanwhile
    SY_CHECK(
        data != nullptr, Value,
        "[{}] expected a storage with memory, got {} bytes on {} without any",
        asked, nbytes_, device_);
    return data;
  }
  try {
    payload->materialize(*this);
  } catch (Error& error) {
    error.add_context(str("[{}] asked for {}, {} bytes on {}", asked,
                          payload->describe(), nbytes_, device_));
    throw;
  }
  void* const data = data_acquire();
  SY_CHECK(data != nullptr, Error,
           "[{}] expected memory from {} for {} bytes on {}, got none", asked,
           payload->describe(), nbytes_, device_);
  return data;
}

void StorageImpl::release_memory() noexcept {
  switch (source()) {
    case kAllocator:
      if (data_ != nullptr) allocator_->deallocate(data_, nbytes_);
      break;
    case kAdopted: {
      const StorageExtra* const e = extra();
      if (e != nullptr && e->deleter != nullptr) e->deleter(e->context);
      break;
    }
    case kLent: extra()->lender.reset(); break;
    default: return;
  }
  data_ = nullptr;
  nbytes_ = 0;
  source_ = static_cast<uint8_t>((source_ & ~kSourceMask) | kNone);
  drop_owner();
}

// Frees what lies beside the object when the last strong owner goes.
void StorageImpl::release_resources() noexcept {
  if (source_ == kInline) return;
  release_memory();
  if (extra() != nullptr) free_extra();
}

void StorageImpl::free_extra() noexcept {
  StorageExtra* const e = extra();
  extra_.store(nullptr, std::memory_order_relaxed);
  put_back(e);
  if (source() == kInlineMore) source_ = kInline;
}

void StorageImpl::destroy(StorageImpl* s) noexcept {
  if (SY_LIKELY(s->source_ == kInline)) {
    detail::pool_put(s, sizeof(StorageImpl) + s->nbytes_, s->nbytes_);
    return;
  }
  destroy_other(s);
}

void StorageImpl::destroy_other(StorageImpl* s) noexcept {
  if (SY_LIKELY(s->source_ == kAllocator && s->extra() == nullptr)) {
    if (s->data_ != nullptr) s->allocator_->deallocate(s->data_, s->nbytes_);
    s->drop_owner();
    return detail::pool_put(s, sizeof(StorageImpl));
  }
  s->release_resources();
  if (s->source_ == kInline) return destroy(s);
  detail::pool_put(
      s, sizeof(StorageImpl) + 64 * size_t{uint8_t(s->source_ >> kUnitsShift)});
}

void materialize(StorageImpl& storage, const char* asked) {
  storage.const_data(asked);
}

StoragePayload::StoragePayload(DeviceType backend) noexcept
    : owner_(plugin_of_backend(backend)) {
  if (owner_ != nullptr) owner_->hold(LibraryToken::kStorage);
}

StoragePayload::~StoragePayload() = default;

// The library may go once its destructor has run.
void StoragePayload::destroy(StoragePayload* p) noexcept {
  LibraryToken* const owner = p->owner_;
  delete p;
  if (owner != nullptr) owner->drop(LibraryToken::kStorage);
}

int64_t fail_allocation(int64_t nth) noexcept {
  const int64_t left = until_failure.exchange(nth, std::memory_order_relaxed);
  counts.store(nth > 0, std::memory_order_relaxed);
  inline_bytes.store(nth > 0 ? 0 : kInlineBytes, std::memory_order_relaxed);
  return left > 0 ? left : 0;
}

}  // namespace sy
