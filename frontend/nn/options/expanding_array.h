#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "c10/tensor/array_ref.h"

namespace sy {

namespace detail {
[[noreturn]] SY_API SY_COLD void wrong_number_of_values(size_t expected,
                                                        size_t got);
}  // namespace detail

// D values, one for each dimension. One value stands for D equal ones:
// ExpandingArray<2>(3) is {3, 3}. Lists of another length throw ValueError.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list)
      : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& list)
      : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(ArrayRef<T> list) {
    if (list.size() != D) detail::wrong_number_of_values(D, list.size());
    for (size_t i = 0; i < D; ++i) values_[i] = list[i];
  }
  ExpandingArray(T one) { values_.fill(one); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }
  size_t size() const noexcept { return D; }
  // Whether all are equal to `value`.
  bool all(const T& value) const {
    for (const T& v : values_) {
      if (!(v == value)) return false;
    }
    return true;
  }

 protected:
  std::array<T, D> values_;
};

// "[3, 5]", or one number if D is 1.
template <class Char, class Traits, size_t D, class T>
std::basic_ostream<Char, Traits>& operator<<(
    std::basic_ostream<Char, Traits>& out, const ExpandingArray<D, T>& a) {
  if constexpr (D == 1) {
    return out << a->front();
  } else {
    return out << ArrayRef<T>(a);
  }
}

// The same where each value may be absent: {std::nullopt, 5}.
template <size_t D, class T = int64_t>
class ExpandingArrayWithOptionalElem
    : public ExpandingArray<D, std::optional<T>> {
 public:
  using ExpandingArray<D, std::optional<T>>::ExpandingArray;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& list)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(ArrayRef<T> list)
      : ExpandingArray<D, std::optional<T>>(std::nullopt) {
    if (list.size() != D) detail::wrong_number_of_values(D, list.size());
    for (size_t i = 0; i < D; ++i) this->values_[i] = list[i];
  }
  ExpandingArrayWithOptionalElem(T one)
      : ExpandingArray<D, std::optional<T>>(std::optional<T>(one)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(values)) {}
};

}  // namespace sy
