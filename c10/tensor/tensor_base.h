#pragma once

#include <cstdint>
#include <optional>

#include "c10/device/generator.h"
#include "c10/tensor/scalar.h"
#include "c10/tensor/tensor_impl.h"

namespace sy {

namespace detail {
[[noreturn]] SY_API SY_COLD void outside_accessor(int64_t i, int64_t size);
}

// Access to the elements of a CPU tensor of known dtype and rank: a[i][j].
// Borrows the tensor. Only at() checks indices: a.at(i).at(j).
template <class T, size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  int64_t size(int64_t d) const { return sizes_[d]; }
  int64_t stride(int64_t d) const { return strides_[d]; }
  IntArrayRef sizes() const { return {sizes_, N}; }
  IntArrayRef strides() const { return {strides_, N}; }
  T* data() const { return data_; }
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1) {
      return (data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1,
                                      strides_ + 1);
    }
  }
  // Like [], but throws IndexError for an index outside of [0, size(0)).
  decltype(auto) at(int64_t i) const {
    if (SY_UNLIKELY(i < 0 || i >= sizes_[0])) {
      detail::outside_accessor(i, sizes_[0]);
    }
    return (*this)[i];
  }

 private:
  T* data_;
  const int64_t *sizes_, *strides_;
};

// The same with sizes and strides of its own: only the memory must stay.
template <class T, size_t N>
class PackedTensorAccessor {
 public:
  PackedTensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data) {
    for (size_t d = 0; d < N; ++d) {
      sizes_[d] = sizes[d];
      strides_[d] = strides[d];
    }
  }
  int64_t size(int64_t d) const { return sizes_[d]; }
  int64_t stride(int64_t d) const { return strides_[d]; }
  T* data() const { return data_; }
  decltype(auto) operator[](int64_t i) const { return whole()[i]; }
  decltype(auto) at(int64_t i) const { return whole().at(i); }

 private:
  TensorAccessor<T, N> whole() const { return {data_, sizes_, strides_}; }

  T* data_;
  int64_t sizes_[N], strides_[N];
};

// Owns a tensor, or none (undefined). It is one pointer; copies share the
// tensor. It has no operators: aten's Tensor adds them as methods, and no data.
class SY_API TensorBase {
 public:
  TensorBase() = default;
  explicit TensorBase(intrusive_ptr<TensorImpl> impl)
      : impl_(std::move(impl)) {}

  bool defined() const noexcept { return static_cast<bool>(impl_); }
  TensorImpl* impl() const noexcept { return impl_.get(); }
  TensorImpl* unsafeGetTensorImpl() const noexcept { return impl_.get(); }
  const intrusive_ptr<TensorImpl>& impl_ptr() const noexcept { return impl_; }
  TensorImpl* release_impl() noexcept { return impl_.release(); }
  bool is_same(const TensorBase& o) const noexcept { return impl_ == o.impl_; }
  uint32_t use_count() const noexcept { return impl_.use_count(); }
  uint32_t weak_use_count() const noexcept {
    return impl_ ? impl_->weak_use_count() - 1 : 0;
  }
  void reset() noexcept { impl_.reset(); }

  int64_t dim() const { return get().dim(); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return get().numel(); }
  IntArrayRef sizes() const { return get().sizes(); }
  IntArrayRef strides() const { return get().strides(); }
  // A negative dim counts from the end. Throws IndexError if it is out of
  // range.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t storage_offset() const { return get().storage_offset(); }
  ScalarType scalar_type() const { return get().dtype(); }
  ScalarType dtype() const { return get().dtype(); }
  Device device() const { return get().device(); }
  int64_t get_device() const { return device().index(); }
  Layout layout() const { return kStrided; }
  TensorOptions options() const {
    return TensorOptions(scalar_type()).device(device()).layout(kStrided);
  }
  size_t element_size() const { return get().itemsize(); }
  size_t itemsize() const { return get().itemsize(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_lazy() const { return device().is_lazy(); }
  bool is_xla() const { return device().is_xla(); }
  bool is_privateuseone() const { return device().is_privateuseone(); }
  bool is_quantized() const { return false; }
  bool is_floating_point() const { return is_floating_type(scalar_type()); }
  bool is_signed() const { return is_signed_type(scalar_type()); }
  DispatchKeySet key_set() const {
    return impl_ ? impl_->key_set() : DispatchKeySet();
  }
  bool is_contiguous(MemoryFormat f = MemoryFormat::Contiguous) const {
    return f == MemoryFormat::Contiguous ? get().is_contiguous()
                                         : get().is_contiguous(f);
  }
  bool is_non_overlapping_and_dense() const {
    return get().is_non_overlapping_and_dense();
  }
  MemoryFormat suggest_memory_format() const;
  const Storage& storage() const { return get().storage(); }
  bool is_alias_of(const TensorBase& o) const {
    return storage() == o.storage();
  }
  bool is_view() const { return static_cast<bool>(get().view_meta()); }
  // The number of counted writes to the storage. Throws Error for inference
  // tensors.
  uint32_t _version() const;
  bool is_inference() const { return get().is_inference(); }

  // The first element, for kernels only; nullptr without memory. A kernel
  // writes only the arguments that it was given to write, and keeps no pointer,
  // so the memory does not count as handed out.
  void* raw_data() const { return get().data(); }
  // The first element, for all other code. Elements that a backend computes
  // later are computed now. All but const_data_ptr() mark the memory as handed
  // out. Throws ValueError without memory, TypeError if T is not the dtype. The
  // host must not touch the memory of other devices.
  void* data_ptr() const { return mutable_data_ptr(); }
  const void* const_data_ptr() const { return get().const_data("data_ptr"); }
  void* mutable_data_ptr() const { return get().mutable_data("data_ptr"); }
  template <class T>
  T* data_ptr() const {
    return mutable_data_ptr<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    check_dtype(CppTypeToScalarType<T>::value);
    return static_cast<const T*>(const_data_ptr());
  }
  template <class T>
  T* mutable_data_ptr() const {
    check_dtype(CppTypeToScalarType<T>::value);
    return static_cast<T*>(mutable_data_ptr());
  }
  // Throw TypeError unless this is a CPU tensor of dtype T with N dims.
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const {
    check_accessor(CppTypeToScalarType<T>::value, N);
    return {static_cast<T*>(get().mutable_data("accessor")), sizes().data(),
            strides().data()};
  }
  template <class T, size_t N>
  PackedTensorAccessor<T, N> packed_accessor64() const {
    check_accessor(CppTypeToScalarType<T>::value, N);
    return {static_cast<T*>(get().mutable_data("accessor")), sizes().data(),
            strides().data()};
  }

 protected:
  // Throws ValueError if undefined.
  TensorImpl& get() const {
    if (SY_UNLIKELY(!impl_)) undefined();
    return *impl_;
  }

 private:
  [[noreturn]] SY_COLD static void undefined();
  void check_dtype(ScalarType t) const;
  void check_accessor(ScalarType t, int64_t dims) const;

  intrusive_ptr<TensorImpl> impl_;
};

static_assert(sizeof(TensorBase) == sizeof(void*));

// "float32[2, 3] on cpu"; "undefined".
SY_API std::string describe(const TensorBase& t);

}  // namespace sy
