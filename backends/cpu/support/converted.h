#pragma once

#include <type_traits>

#include "aten/engine/copy.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/tiles/kernels.h"

// Converts elements to the type that kernels compute in: float or double.

namespace sy::cpu {

// Calls f.operator()<T>() for the type that a floating dtype is computed in.
template <class F>
void visit_compute_type(ScalarType t, const F& f) {
  if (t == kDouble) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}
constexpr ScalarType compute_dtype(ScalarType t) {
  return t == kDouble ? kDouble : kFloat;
}

// Contiguous memory of a floating dtype, read in runs as T. Borrowed.
template <class T>
class ConvertedSource {
 public:
  explicit ConvertedSource(const Tensor& contiguous)
      : data_(static_cast<const char*>(contiguous.raw_data())),
        item_(static_cast<int64_t>(contiguous.itemsize())) {
    if (contiguous.dtype() != kType) {
      convert_ = tiles::convert_fn(contiguous.dtype(), kType);
    }
  }
  bool converts() const { return convert_ != nullptr; }
  // Elements [at, at + n): in place, or in `room` of n elements.
  const T* read(int64_t at, int64_t n, T* room) const {
    const char* const from = data_ + at * item_;
    if (convert_ == nullptr) return reinterpret_cast<const T*>(from);
    if (n > 0) convert_(room, from, n);
    return room;
  }

 private:
  static constexpr ScalarType kType =
      std::is_same_v<T, double> ? kDouble : kFloat;
  const char* data_;
  int64_t item_;
  tiles::ConvertFn convert_ = nullptr;
};

// The same for results. begin() returns where to write them, end() converts
// them.
template <class T>
class ConvertedTarget {
 public:
  explicit ConvertedTarget(const Tensor& contiguous)
      : data_(static_cast<char*>(contiguous.raw_data())),
        item_(static_cast<int64_t>(contiguous.itemsize())) {
    if (contiguous.dtype() != kType) {
      convert_ = tiles::convert_fn(kType, contiguous.dtype());
    }
  }
  bool converts() const { return convert_ != nullptr; }
  T* begin(int64_t at, T* room) const {
    return convert_ == nullptr ? reinterpret_cast<T*>(data_ + at * item_)
                               : room;
  }
  void end(int64_t at, int64_t n, const T* room) const {
    if (convert_ != nullptr && n > 0) convert_(data_ + at * item_, room, n);
  }

 private:
  static constexpr ScalarType kType =
      std::is_same_v<T, double> ? kDouble : kFloat;
  char* data_;
  int64_t item_;
  tiles::ConvertFn convert_ = nullptr;
};

// `out` if it is contiguous; else a contiguous tensor like it. The caller then
// copies that to out.
inline Tensor contiguous_target(const Tensor& out) {
  return out.is_contiguous()
             ? out
             : Tensor(make_tensor(out.sizes(), out.dtype(), Device(kCPU)));
}
inline void store_target(const Tensor& out, const Tensor& target) {
  if (!target.is_same(out)) copy_cpu(out, target);
}

}  // namespace sy::cpu
