#include "c10/tensor/tensor_impl.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "c10/device/backend.h"
#include "c10/device/device_guard.h"
#include "c10/dispatch/capture.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/thread_state.h"
#include "c10/memory/pool_fast.h"
#include "c10/process/error.h"
#include "c10/tensor/copy_ints.h"
#include "c10/tensor/storage_payload.h"
#include "c10/tensor/tensor_base.h"

namespace sy {

BackendMeta::~BackendMeta() = default;

namespace {

size_t heap_bytes(size_t dim) { return 2 * dim * sizeof(int64_t); }

// Wraps rather than overflows: beside a size of 0 others may be anything.
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

bool is_row_major(const int64_t* sizes, const int64_t* strides, int dim) {
  int64_t expected = 1;
  for (int d = dim; d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected = times(expected, sizes[d]);
  }
  return true;
}

// Channels (dim 1) fastest, then the spatial dims, the batch slowest.
bool is_channels_last(IntArrayRef sizes, IntArrayRef strides) {
  const auto dim = static_cast<int64_t>(sizes.size());
  int64_t expected = 1;
  const auto matches = [&](int64_t d) {
    if (sizes[d] == 1) return true;
    if (strides[d] != expected) return false;
    expected = times(expected, sizes[d]);
    return true;
  };
  if (!matches(1)) return false;
  for (int64_t d = dim - 1; d >= 2; --d) {
    if (!matches(d)) return false;
  }
  return matches(0);
}

using detail::copy_ints;

constexpr DispatchKeySet kAutogradKey(DispatchKey::Autograd);

}  // namespace

SY_ALWAYS_INLINE TensorImpl* TensorImpl::create(Storage&& storage,
                                                ScalarType dtype, Device device,
                                                DispatchKeySet keys) {
  void* block = detail::pool_get(sizeof(TensorImpl));
  auto* t = new (block) TensorImpl(std::move(storage), dtype, device, keys);
  if (SY_UNLIKELY(thread_state.inference)) t->flags_ |= kInference;
  return t;
}

void TensorImpl::assign_dims(IntArrayRef sizes, const int64_t* strides) {
  const size_t n = sizes.size();
  SY_INTERNAL_ASSERT(n <= kMaxDims, "a tensor of {} dims", n);
  int64_t* const old = sizes_;
  const size_t old_dim = dim_;
  int64_t* to = n <= kInlineDims
                    ? inline_
                    : static_cast<int64_t*>(pool_allocate(heap_bytes(n)));
  int64_t* to_strides = to + (n <= kInlineDims ? size_t{kInlineDims} : n);
  // The arguments may lie within `to`, each in its own half.
  copy_ints(to, sizes.data(), n);
  if (strides != nullptr) {
    copy_ints(to_strides, strides, n);
    numel_ = 1;
    bool zero = false;
    for (size_t d = 0; d < n; ++d) {
      zero |= to[d] == 0;
      numel_ = times(numel_, to[d]);
    }
    set_flag(kContiguous,
             zero || is_row_major(to, to_strides, static_cast<int>(n)));
  } else {
    int64_t stride = 1;
    int64_t numel = 1;
    for (size_t d = n; d-- > 0;) {
      to_strides[d] = stride;
      stride = times(stride, std::max<int64_t>(to[d], 1));
      numel = times(numel, to[d]);
    }
    numel_ = numel;
    set_flag(kContiguous, true);
  }
  sizes_ = to;
  dim_ = static_cast<uint8_t>(n);
  if (old != inline_) pool_free(old, heap_bytes(old_dim));
}

intrusive_ptr<TensorImpl> TensorImpl::make(Storage storage, ScalarType dtype,
                                           Device device, DispatchKeySet keys,
                                           IntArrayRef sizes) {
  auto t = intrusive_ptr<TensorImpl>::reclaim(
      create(std::move(storage), dtype, device, keys));
  t->set_sizes_contiguous(sizes);
  return t;
}

intrusive_ptr<TensorImpl> TensorImpl::make(Storage storage, ScalarType dtype,
                                           Device device, DispatchKeySet keys,
                                           IntArrayRef sizes,
                                           IntArrayRef strides,
                                           int64_t offset) {
  auto t = intrusive_ptr<TensorImpl>::reclaim(
      create(std::move(storage), dtype, device, keys));
  t->set_sizes_and_strides(sizes, strides, offset);
  return t;
}

intrusive_ptr<TensorImpl> TensorImpl::alias(IntArrayRef sizes,
                                            IntArrayRef strides,
                                            int64_t offset) const {
  auto t = intrusive_ptr<TensorImpl>::reclaim(
      create(Storage(storage_), dtype_, Device(), keys_ - kAutogradKey));
  // The device as an argument would be written to the stack by bytes and read
  // at once, which waits.
  t->device_ = device_;
  t->set_flag(kInference, is_inference());
  const size_t n = sizes.size();
  if (SY_UNLIKELY(n > kInlineDims || strides.size() != n)) {
    t->set_sizes_and_strides(sizes, strides, offset);
    return t;
  }
  // Does what assign_dims() does, in one pass: nothing of a new tensor is read.
  int64_t expected = 1;
  bool row_major = true, zero = false;
  for (size_t d = n; d-- > 0;) {
    const int64_t size = sizes[d], stride = strides[d];
    t->inline_[d] = size;
    t->inline_[kInlineDims + d] = stride;
    row_major &= size == 1 || stride == expected;
    zero |= size == 0;
    expected = times(expected, size);
  }
  t->numel_ = expected;
  t->set_flag(kContiguous, row_major || zero);
  t->dim_ = static_cast<uint8_t>(n);
  t->storage_offset_ = offset;
  return t;
}

void TensorImpl::check_inference_write(const OperatorEntry* writer) const {
  if (thread_state.inference) return;
  std::string_view name = writer == nullptr ? "" : writer->name();
  if (name.starts_with("aten::")) name.remove_prefix(6);
  fail(ErrorKind::Value,
       "{}expected to write a tensor that was made outside of inference mode, "
       "got an inference tensor, {}; write it in inference mode, or write to a "
       "clone",
       writer == nullptr ? "" : str("[{}] ", name),
       describe(TensorBase(
           intrusive_ptr<TensorImpl>::retain(const_cast<TensorImpl*>(this)))));
}

void* TensorImpl::data_for(const char* asked) const {
  if (numel_ == 0 || device_.is_meta()) return data();
  if (thread_state.capture != nullptr) {
    thread_state.capture->on_pointer(*storage_, asked);
  }
  if (storage_->data_acquire() != nullptr) return data();
  SY_CHECK(
      storage_->payload() != nullptr || storage_->data_acquire() != nullptr,
      Value, "[{}] self: expected a tensor with memory, got {} without any",
      asked,
      describe(TensorBase(
          intrusive_ptr<TensorImpl>::retain(const_cast<TensorImpl*>(this)))));
  sy::materialize(*storage_, asked);
  return data();
}

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  const size_t n = sizes.size();
  if (SY_UNLIKELY(n > kInlineDims || sizes_ != inline_)) {
    assign_dims(sizes, nullptr);
    return;
  }
  int64_t stride = 1;
  int64_t numel = 1;
  // Copies forward first: `sizes` may be a later part of this tensor's own.
  for (size_t d = 0; d < n; ++d) {
    inline_[d] = sizes[d];
    numel = times(numel, sizes[d]);
  }
  for (size_t d = n; d-- > 0;) {
    inline_[kInlineDims + d] = stride;
    stride = times(stride, std::max<int64_t>(inline_[d], 1));
  }
  numel_ = numel;
  dim_ = static_cast<uint8_t>(n);
  flags_ |= kContiguous;
}

void TensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides,
                                       int64_t offset) {
  SY_INTERNAL_ASSERT(sizes.size() == strides.size(), "{} sizes, {} strides",
                     sizes.size(), strides.size());
  assign_dims(sizes, strides.size() == 0 ? inline_ : strides.data());
  storage_offset_ = offset;
}

bool TensorImpl::is_contiguous(MemoryFormat f) const noexcept {
  if (f == MemoryFormat::ChannelsLast) {
    return dim_ == 4 && is_channels_last(sizes(), strides());
  }
  if (f == MemoryFormat::ChannelsLast3d) {
    return dim_ == 5 && is_channels_last(sizes(), strides());
  }
  return is_contiguous();
}

bool TensorImpl::is_non_overlapping_and_dense() const noexcept {
  if (is_contiguous()) return true;
  const int64_t* const strides = strides_();
  uint8_t order[kMaxDims];
  int n = 0;
  for (uint8_t d = 0; d < dim_; ++d) {
    if (sizes_[d] >= 2) order[n++] = d;
  }
  std::sort(order, order + n, [strides](uint8_t a, uint8_t b) {
    return strides[a] < strides[b];
  });
  int64_t expected = 1;
  for (int i = 0; i < n; ++i) {
    if (strides[order[i]] != expected) return false;
    expected = times(expected, sizes_[order[i]]);
  }
  return true;
}

void TensorImpl::resize(IntArrayRef sizes) {
  if (sizes == this->sizes()) return;
  const int64_t n = checked_numel("resize_", sizes, itemsize());
  int64_t end = 0;
  const auto item = static_cast<int64_t>(itemsize());
  SY_CHECK(!__builtin_add_overflow(storage_offset_, n, &end) &&
               !__builtin_mul_overflow(end, item, &end),
           Value,
           "[resize_] size: the tensor would end more than 2^63-1 bytes into "
           "its storage: {}",
           sizes);
  if (n != 0 && static_cast<size_t>(end) > storage_->nbytes()) {
    storage_->resize(static_cast<size_t>(end));
  }
  set_sizes_contiguous(sizes);
}

void TensorImpl::shallow_copy_from(const TensorImpl& o) {
  if (this == &o) return;
  assign_dims(o.sizes(), o.strides_());
  storage_ = o.storage_;
  storage_offset_ = o.storage_offset_;
  dtype_ = o.dtype_;
  device_ = o.device_;
  flags_ = o.flags_;
  backend_meta_ = o.backend_meta_;
  keys_ = (o.keys_ - kAutogradKey) | (keys_ & kAutogradKey);
}

void TensorImpl::set_autograd_meta(AutogradMeta* m) noexcept {
  delete std::exchange(autograd_meta_, m);
}

const TensorImpl* TensorImpl::view_root() const noexcept {
  const TensorImpl* t = this;
  while (t->view_ && t->view_->parent()) t = t->view_->parent().get();
  return t;
}

void TensorImpl::release_resources() noexcept {
  storage_.reset();
  if (has_extras()) release_extras();
}

bool TensorImpl::has_extras() const noexcept {
  return autograd_meta_ != nullptr || view_ || backend_meta_ ||
         sizes_ != inline_;
}

void TensorImpl::release_extras() noexcept {
  set_autograd_meta(nullptr);
  view_.reset();
  backend_meta_.reset();
  if (sizes_ == inline_) return;
  pool_free(sizes_, heap_bytes(dim_));
  sizes_ = inline_;
  dim_ = 0;
}

void TensorImpl::destroy(TensorImpl* t) noexcept {
  t->release_resources();
  detail::pool_put(t, sizeof(TensorImpl));
}

namespace {

SY_ALWAYS_INLINE int64_t checked_numel_inline(const char* op, IntArrayRef sizes,
                                              size_t itemsize) {
  bool overflow = false;
  bool zero = false;
  int64_t numel = 1;
  for (const int64_t s : sizes) {
    SY_CHECK(s >= 0, Value, "[{}] size: expected non-negative, got {} in {}",
             op, s, sizes);
    zero |= s == 0;
    overflow |= __builtin_mul_overflow(numel, s, &numel);
  }
  SY_CHECK(sizes.size() <= TensorImpl::kMaxDims, Value,
           "[{}] size: expected at most {} dims, got {}", op,
           int{TensorImpl::kMaxDims}, sizes.size());
  if (SY_UNLIKELY(zero)) return 0;
  SY_CHECK(!overflow, Value,
           "[{}] size: the tensor would have more than 2^63-1 elements: {}", op,
           sizes);
  int64_t bytes = 0;
  SY_CHECK(
      !__builtin_mul_overflow(numel, static_cast<int64_t>(itemsize), &bytes),
      Value, "[{}] size: the tensor would have more than 2^63-1 bytes: {}", op,
      sizes);
  return numel;
}

}  // namespace

int64_t checked_numel(const char* op, IntArrayRef sizes, size_t itemsize) {
  return checked_numel_inline(op, sizes, itemsize);
}

void contiguous_strides(IntArrayRef sizes, int64_t* strides) noexcept {
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = times(stride, std::max<int64_t>(sizes[d], 1));
  }
}

namespace {

// The device of a tensor for `device`: without an index, the current one.
Device resolve(const char* op, Device device, ScalarType dtype) {
  SY_CHECK(static_cast<int>(dtype) < kNumScalarTypes, Type,
           "[{}] dtype: expected a dtype, got {}", op,
           dtype == ScalarType::Undefined ? "undefined" : "no known one");
  SY_CHECK(device.index() <= 0 || device.type() > kMeta, Value,
           "[{}] device: there is one '{}' device, got '{}'", op,
           backend_device_name(device.type()), device);
  if (device.type() <= kMeta) return Device(device.type());
  device_interface(device.type());  // throws if there is none
  return with_index(device);
}

}  // namespace

intrusive_ptr<TensorImpl> make_tensor(IntArrayRef sizes, ScalarType dtype,
                                      Device device) {
  if (SY_UNLIKELY(static_cast<int>(dtype) >= kNumScalarTypes ||
                  device != Device(kCPU))) {
    device = resolve("empty", device, dtype);
  }
  const size_t item = element_size(dtype);
  const int64_t n = checked_numel_inline("empty", sizes, item);
  return TensorImpl::make(
      StorageImpl::allocate(static_cast<size_t>(n) * item, device), dtype,
      device, DispatchKeySet::dense(device.type()), sizes);
}

namespace {

// The bytes that the elements reach over.
size_t strided_bytes(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  SY_CHECK(
      sizes.size() == strides.size(), Value,
      "[empty_strided] stride: expected {} strides, one for each size, got {}",
      sizes.size(), strides.size());
  const auto item = static_cast<int64_t>(element_size(dtype));
  const int64_t n =
      checked_numel("empty_strided", sizes, static_cast<size_t>(item));
  int64_t reach = n == 0 ? 0 : 1;
  bool overflow = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    SY_CHECK(strides[d] >= 0, Value,
             "[empty_strided] stride: expected non-negative, got {} in {}",
             strides[d], strides);
    if (n == 0) continue;
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &step) ||
                __builtin_add_overflow(reach, step, &reach);
  }
  int64_t bytes = 0;
  overflow |= __builtin_mul_overflow(reach, item, &bytes);
  SY_CHECK(!overflow, Value,
           "[empty_strided] stride: the tensor would have more than 2^63-1 "
           "bytes: size {}, stride {}",
           sizes, strides);
  return static_cast<size_t>(bytes);
}

}  // namespace

intrusive_ptr<TensorImpl> make_tensor_strided(IntArrayRef sizes,
                                              IntArrayRef strides,
                                              ScalarType dtype, Device device) {
  device = resolve("empty_strided", device, dtype);
  const size_t bytes = strided_bytes(sizes, strides, dtype);
  return TensorImpl::make(StorageImpl::allocate(bytes, device), dtype, device,
                          DispatchKeySet::dense(device.type()), sizes, strides,
                          0);
}

intrusive_ptr<TensorImpl> make_pinned_tensor(IntArrayRef sizes,
                                             IntArrayRef strides,
                                             ScalarType dtype,
                                             DeviceType backend) {
  const Device host = resolve("empty", Device(kCPU), dtype);
  const size_t bytes = strided_bytes(sizes, strides, dtype);
  return TensorImpl::make(StorageImpl::allocate_pinned(bytes, backend), dtype,
                          host, DispatchKeySet::dense(kCPU), sizes, strides, 0);
}

}  // namespace sy
