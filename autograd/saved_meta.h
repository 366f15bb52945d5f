#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "c10/macros.h"
#include "c10/memory/pool.h"
#include "c10/tensor/array_ref.h"
#include "c10/tensor/tensor_base.h"

namespace sy::autograd {

// A list of integers in a graph node. Up to five need no allocation.
class SavedInts {
 public:
  static constexpr size_t kInline = TensorImpl::kInlineDims;

  SavedInts() = default;
  explicit SavedInts(IntArrayRef list) { assign(list); }
  SavedInts(const SavedInts& o) { assign(o); }
  SavedInts(SavedInts&& o) noexcept { steal(o); }
  SavedInts& operator=(const SavedInts& o) {
    if (this != &o) assign(o);
    return *this;
  }
  SavedInts& operator=(SavedInts&& o) noexcept {
    if (this != &o) {
      clear();
      steal(o);
    }
    return *this;
  }
  SavedInts& operator=(IntArrayRef list) {
    assign(list);
    return *this;
  }
  ~SavedInts() { clear(); }

  operator IntArrayRef() const { return {data(), n_}; }
  const int64_t* data() const { return n_ > kInline ? heap_ : inline_; }
  size_t size() const { return n_; }
  int64_t operator[](size_t i) const { return data()[i]; }

 private:
  void assign(IntArrayRef list) {
    int64_t* to = inline_;
    int64_t* grown = nullptr;
    if (SY_UNLIKELY(list.size() > kInline)) {
      to = grown =
          static_cast<int64_t*>(pool_allocate(list.size() * sizeof(int64_t)));
    }
    for (size_t i = 0; i < list.size(); ++i) to[i] = list[i];
    clear();
    n_ = static_cast<uint32_t>(list.size());
    if (SY_UNLIKELY(grown != nullptr)) heap_ = grown;
  }
  void steal(SavedInts& o) noexcept {
    n_ = std::exchange(o.n_, 0);
    for (size_t i = 0; i < kInline; ++i) inline_[i] = o.inline_[i];
  }
  void clear() noexcept {
    if (SY_UNLIKELY(n_ > kInline)) pool_free(heap_, n_ * sizeof(int64_t));
    n_ = 0;
  }

  union {
    int64_t inline_[kInline];
    int64_t* heap_;
  };
  uint32_t n_ = 0;
};

// The sizes, dtype, device and order of a tensor, without its memory, for
// formulas that read no elements. Methods have the names of Tensor's.
class SavedMeta {
 public:
  SavedMeta() = default;
  explicit SavedMeta(const TensorBase& t) { save(t); }
  // An undefined tensor leaves it undefined.
  void save(const TensorBase& t) {
    if (!t.defined()) return;
    sizes_ = t.impl()->sizes();
    dtype_ = t.impl()->dtype();
    device_ = t.impl()->device();
    contiguous_ = t.impl()->is_contiguous();
  }

  bool defined() const { return dtype_ != ScalarType::Undefined; }
  IntArrayRef sizes() const { return sizes_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  // Throws IndexError.
  int64_t size(int64_t d) const {
    SY_CHECK(d >= -dim() && d < dim(), Index,
             "[size] dim: expected a value in [{}, {}], got {}", -dim(),
             dim() - 1, d);
    return sizes_[static_cast<size_t>(d < 0 ? d + dim() : d)];
  }
  int64_t numel() const {
    int64_t n = 1;
    for (const int64_t s : sizes()) n *= s;
    return n;
  }
  ScalarType scalar_type() const { return dtype_; }
  ScalarType dtype() const { return dtype_; }
  Device device() const { return device_; }
  SY_API TensorOptions options() const;
  bool is_floating_point() const { return is_floating_type(dtype_); }
  // Whether the tensor's elements lay in row-major order.
  bool is_contiguous() const { return contiguous_; }
  bool matches(const TensorImpl& t) const {
    return t.dtype() == dtype_ && t.device() == device_ && t.sizes() == sizes();
  }

 private:
  SavedInts sizes_;
  ScalarType dtype_ = ScalarType::Undefined;
  Device device_;
  bool contiguous_ = true;
};

// "float32[2, 3] on cpu"; "undefined".
SY_API std::string to_string(const SavedMeta& m);

// The places of a tensor's elements in its storage.
struct Geometry {
  SavedInts sizes, strides;
  int64_t offset = 0;

  Geometry() = default;
  explicit Geometry(const TensorImpl& t)
      : sizes(t.sizes()), strides(t.strides()), offset(t.storage_offset()) {}
  Geometry(IntArrayRef sizes, IntArrayRef strides, int64_t offset)
      : sizes(sizes), strides(strides), offset(offset) {}
};

}  // namespace sy::autograd
