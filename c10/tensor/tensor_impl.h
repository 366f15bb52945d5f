#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "c10/dispatch/dispatch_key_set.h"
#include "c10/tensor/array_ref.h"
#include "c10/tensor/autograd_meta.h"
#include "c10/tensor/intrusive_ptr.h"
#include "c10/tensor/storage.h"
#include "c10/tensor/tensor_options.h"

namespace sy {

// Extra state that a backend keeps with its tensors.
class SY_API BackendMeta : public RefCounted {
 public:
  virtual ~BackendMeta();
};

// The fields of a tensor. Const members are thread-safe. A thread that calls
// other members must own the tensor alone. Strides and offsets count elements.
// Sizes and strides are stored inline up to kInlineDims dims; a tensor has at
// most kMaxDims.
class SY_API TensorImpl final : public RefCounted {
 public:
  static constexpr int kInlineDims = 5;
  static constexpr int kMaxDims = 64;

  // Makes a contiguous tensor at the start of `storage`. `sizes` must be valid
  // (non-negative, no overflow: see checked_numel).
  static intrusive_ptr<TensorImpl> make(Storage storage, ScalarType dtype,
                                        Device device, DispatchKeySet keys,
                                        IntArrayRef sizes);
  static intrusive_ptr<TensorImpl> make(Storage storage, ScalarType dtype,
                                        Device device, DispatchKeySet keys,
                                        IntArrayRef sizes, IntArrayRef strides,
                                        int64_t offset);
  // Makes a tensor on the same storage with its own sizes, strides and offset;
  // all views are made by it. It gets neither autograd nor view metadata.
  intrusive_ptr<TensorImpl> alias(IntArrayRef sizes, IntArrayRef strides,
                                  int64_t offset) const;
  intrusive_ptr<TensorImpl> alias() const {
    return alias(sizes(), strides(), storage_offset_);
  }

  int64_t dim() const noexcept { return dim_; }
  int64_t numel() const noexcept { return numel_; }
  IntArrayRef sizes() const noexcept {
    return {sizes_, static_cast<size_t>(dim_)};
  }
  IntArrayRef strides() const noexcept {
    return {strides_(), static_cast<size_t>(dim_)};
  }
  int64_t storage_offset() const noexcept { return storage_offset_; }
  ScalarType dtype() const noexcept { return dtype_; }
  size_t itemsize() const noexcept { return element_size(dtype_); }
  Device device() const noexcept { return device_; }
  DispatchKeySet key_set() const noexcept { return keys_; }
  void set_key_set(DispatchKeySet keys) noexcept { keys_ = keys; }
  void add_keys(DispatchKeySet keys) noexcept { keys_ = keys_ | keys; }
  void remove_keys(DispatchKeySet keys) noexcept { keys_ = keys_ - keys; }

  // Says that the elements have come. Unlike other writers, this may run while
  // other threads read the tensor.
  void end_pending() noexcept {
    std::atomic_ref<DispatchKeySet>(keys_).store(
        keys_ - DispatchKeySet(DispatchKey::Pending),
        std::memory_order_relaxed);
  }

  // Contiguous in row-major order.
  bool is_contiguous() const noexcept { return (flags_ & kContiguous) != 0; }
  bool is_contiguous(MemoryFormat f) const noexcept;
  bool is_non_overlapping_and_dense() const noexcept;
  // Whether this is a Python or C++ number made into a tensor, which ranks
  // lowest in promotion.
  bool is_wrapped_number() const noexcept { return (flags_ & kWrapped) != 0; }
  void set_wrapped_number(bool v) noexcept { set_flag(kWrapped, v); }
  bool is_inference() const noexcept { return (flags_ & kInference) != 0; }
  void set_inference(bool v) noexcept { set_flag(kInference, v); }

  const Storage& storage() const noexcept { return storage_; }
  void set_storage(Storage s) noexcept { storage_ = std::move(s); }
  // The first element, for kernels only: see StorageImpl::data(). nullptr
  // without memory. The host may not be able to read device memory.
  void* data() const noexcept { return first_of(storage_->data()); }
  // The first element, for all other code. If there is no memory yet, takes
  // some first, except on Meta and for a tensor without elements. `asked` names
  // the caller in messages. Throws ValueError if the storage has neither memory
  // nor a payload, and what the payload throws.
  const void* const_data(const char* asked) const {
    void* const base = storage_->data_acquire();
    return SY_LIKELY(base != nullptr && thread_state.capture == nullptr)
               ? first_of(base)
               : data_for(asked);
  }
  void* mutable_data(const char* asked) const {
    storage_->set_handed_out();
    void* const base = storage_->data_acquire();
    return SY_LIKELY(base != nullptr && thread_state.capture == nullptr)
               ? first_of(base)
               : data_for(asked);
  }

  void set_sizes_contiguous(IntArrayRef sizes);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides,
                             int64_t offset);
  void set_dtype(ScalarType t) noexcept { dtype_ = t; }
  // ATen's resize_: sets contiguous sizes, and grows the storage if needed.
  // Throws ValueError for invalid sizes, and what StorageImpl::resize throws.
  void resize(IntArrayRef sizes);
  // Takes over everything but counts, the Autograd key, and the metadata of
  // autograd and views.
  void shallow_copy_from(const TensorImpl& o);

  uint32_t version() const noexcept { return storage_->version(); }
  // Call this before a write. Throws ValueError for an inference tensor outside
  // of InferenceMode.
  void bump_version(const OperatorEntry* writer) {
    if (SY_UNLIKELY(is_inference())) check_inference_write(writer);
    storage_->bump_version(writer);
  }

  AutogradMeta* autograd_meta() const noexcept { return autograd_meta_; }
  // Takes ownership.
  void set_autograd_meta(AutogradMeta* m) noexcept;
  const intrusive_ptr<ViewMeta>& view_meta() const noexcept { return view_; }
  void set_view_meta(intrusive_ptr<ViewMeta> v) noexcept {
    view_ = std::move(v);
  }
  intrusive_ptr<ViewMeta> take_view_meta() noexcept { return std::move(view_); }
  // The tensor at the root of the chain of views; this one if it is no view.
  const TensorImpl* view_root() const noexcept;
  const intrusive_ptr<BackendMeta>& backend_meta() const noexcept {
    return backend_meta_;
  }
  void set_backend_meta(intrusive_ptr<BackendMeta> m) noexcept {
    backend_meta_ = std::move(m);
  }

  // For intrusive_ptr.
  void release_resources() noexcept;
  static void destroy(TensorImpl* t) noexcept;

 private:
  enum Flag : uint8_t { kContiguous = 1, kWrapped = 2, kInference = 4 };

  TensorImpl(Storage storage, ScalarType dtype, Device device,
             DispatchKeySet keys) noexcept
      : storage_(std::move(storage)),
        keys_(keys),
        dtype_(dtype),
        device_(device) {}
  ~TensorImpl() = delete;  // see destroy()
  void set_flag(Flag f, bool v) noexcept {
    flags_ = static_cast<uint8_t>(v ? flags_ | f : flags_ & ~f);
  }
  const int64_t* strides_() const noexcept {
    return sizes_ + (dim_ <= kInlineDims ? kInlineDims : dim_);
  }
  void* first_of(void* storage) const noexcept {
    return storage == nullptr ? nullptr
                              : static_cast<char*>(storage) +
                                    storage_offset_ * int64_t(itemsize());
  }
  SY_COLD void* data_for(const char* asked) const;
  static TensorImpl* create(Storage&& storage, ScalarType dtype, Device device,
                            DispatchKeySet keys);
  bool has_extras() const noexcept;
  SY_NOINLINE void release_extras() noexcept;
  SY_API SY_COLD void check_inference_write(const OperatorEntry* writer) const;
  // If `strides` is nullptr, they become row-major. The arguments may be this
  // tensor's own.
  void assign_dims(IntArrayRef sizes, const int64_t* strides);

  Storage storage_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 1;
  DispatchKeySet keys_;
  int64_t* sizes_ = inline_;  // followed by the strides
  ScalarType dtype_;
  Device device_;
  uint8_t dim_ = 0;
  uint8_t flags_ = kContiguous;
  AutogradMeta* autograd_meta_ = nullptr;
  intrusive_ptr<ViewMeta> view_;
  intrusive_ptr<BackendMeta> backend_meta_;
  int64_t inline_[2 * kInlineDims];
};

// The product of the sizes. Throws ValueError, whose message names `op`, if a
// size is negative, if there are more than kMaxDims, or if the product or its
// bytes overflow int64.
SY_API int64_t checked_numel(const char* op, IntArrayRef sizes,
                             size_t itemsize = 1);
// Writes the row-major strides of `sizes` to `strides` (of the same length).
SY_API void contiguous_strides(IntArrayRef sizes, int64_t* strides) noexcept;

// Allocates an uninitialised tensor, contiguous or with the given strides; the
// storage is as large as they reach. Throws ValueError for invalid sizes,
// strides and devices, TypeError for an undefined dtype, OutOfMemoryError.
SY_API intrusive_ptr<TensorImpl> make_tensor(IntArrayRef sizes,
                                             ScalarType dtype, Device device);
SY_API intrusive_ptr<TensorImpl> make_tensor_strided(IntArrayRef sizes,
                                                     IntArrayRef strides,
                                                     ScalarType dtype,
                                                     Device device);
// The same on the CPU, in the pinned memory of a backend
// (c10/memory/pinned_memory.h).
SY_API intrusive_ptr<TensorImpl> make_pinned_tensor(IntArrayRef sizes,
                                                    IntArrayRef strides,
                                                    ScalarType dtype,
                                                    DeviceType backend);

}  // namespace sy
