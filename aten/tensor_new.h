#pragma once

#include <array>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "aten/tensor.h"

namespace sy {

namespace detail {

template <class T>
concept Element = requires {
  CppTypeToScalarType<T>::value;
};

// The numbers in a call of tensor(): one number, a list in braces, or an array
// of one type. Borrows them; lives for the call.
class TensorData {
 public:
  template <class T>
  requires(Element<T> || std::is_arithmetic_v<T>) TensorData(T v)
      : value_(v), dtype_(type_of(v)) {}
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  TensorData(std::initializer_list<TensorData> list)
      : items_(list.begin()), size_(list.size()), kind_(kList) {}
#pragma GCC diagnostic pop
  template <Element T>
  TensorData(ArrayRef<T> a)
      : array_(a.data()),
        size_(a.size()),
        dtype_(CppTypeToScalarType<T>::value),
        kind_(kArray) {}
  template <Element T>
  requires(!std::is_same_v<T, bool>) TensorData(const std::vector<T>& v)
      : TensorData(ArrayRef<T>(v)) {}
  template <Element T, size_t N>
  TensorData(const std::array<T, N>& a) : TensorData(ArrayRef<T>(a)) {}

  enum Kind : uint8_t { kNumber, kList, kArray };
  Kind kind() const { return kind_; }
  size_t size() const { return size_; }
  const TensorData& operator[](size_t i) const { return items_[i]; }
  const Scalar& number() const { return value_; }
  const void* array() const { return array_; }
  // The dtype of a number or an array.
  ScalarType dtype() const { return dtype_; }

 private:
  template <class T>
  static constexpr ScalarType type_of(T) {
    if constexpr (Element<T>) {
      return CppTypeToScalarType<T>::value;
    } else {
      return std::is_floating_point_v<T> ? kDouble : kLong;
    }
  }

  Scalar value_;
  union {
    const TensorData* items_ = nullptr;
    const void* array_;
  };
  size_t size_ = 0;
  ScalarType dtype_ = ScalarType::Undefined;
  Kind kind_ = kNumber;
};

SY_API Tensor tensor(const TensorData& data, const TensorOptions& options);

}  // namespace detail

// Makes a tensor of numbers: tensor(3), tensor({1.5, 2.5}), tensor({{1, 2}, {3,
// 4}}), or from a vector, std::array or ArrayRef. Unless options say otherwise,
// int and int64 make int64, float and double make the default dtype, and other
// types make their own. An empty list makes the default dtype. Throws
// ValueError for ragged lists and numbers that do not fit, TypeError for lists
// of several types.
inline Tensor tensor(const detail::TensorData& data,
                     const TensorOptions& options = {}) {
  return detail::tensor(data, options);
}

}  // namespace sy
