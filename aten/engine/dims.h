#pragma once

#include <cstdint>

#include "c10/tensor/array_ref.h"
#include "c10/tensor/tensor_impl.h"

namespace sy {

// Up to kMaxDims sizes, strides or dims, without an allocation. A value type
// for the stack; elements beyond size() are not initialised.
class Dims {
 public:
  Dims() {}  // NOLINT: data_ stays uninitialised on purpose
  explicit Dims(IntArrayRef list) {
    SY_CHECK(list.size() <= TensorImpl::kMaxDims, Value,
             "expected at most {} dims, got {}", TensorImpl::kMaxDims,
             list.size());
    for (const int64_t v : list) data_[size_++] = v;
  }
  Dims(const Dims& o) : Dims(IntArrayRef(o)) {}
  Dims& operator=(const Dims& o) {
    size_ = o.size_;
    for (int i = 0; i < size_; ++i) data_[i] = o.data_[i];
    return *this;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return data_; }
  const int64_t* data() const { return data_; }
  int64_t& operator[](int64_t i) { return data_[i]; }
  int64_t operator[](int64_t i) const { return data_[i]; }
  int64_t* begin() { return data_; }
  int64_t* end() { return data_ + size_; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  // New elements are not initialised.
  void resize(int64_t n) {
    SY_CHECK(n <= TensorImpl::kMaxDims, Value,
             "expected at most {} dims, got {}", TensorImpl::kMaxDims, n);
    size_ = static_cast<int>(n);
  }
  void push_back(int64_t v) {
    SY_CHECK(size_ < TensorImpl::kMaxDims, Value, "expected at most {} dims",
             TensorImpl::kMaxDims);
    data_[size_++] = v;
  }
  operator IntArrayRef() const { return {data_, static_cast<size_t>(size_)}; }

 private:
  int size_ = 0;
  int64_t data_[TensorImpl::kMaxDims];
};

// Counts a dim from the start; a negative one is counted from the end. A tensor
// without dims has the dims -1 and 0. Throws IndexError "[op] dim: expected
// ...".
inline int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim) {
  const int64_t n = ndim == 0 ? 1 : ndim;
  SY_CHECK(dim >= -n && dim < n, Index,
           "[{}] dim: expected a value in [{}, {}], got {}", op, -n, n - 1,
           dim);
  return dim < 0 ? dim + n : dim;
}

}  // namespace sy
