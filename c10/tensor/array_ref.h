#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "c10/process/error.h"

namespace sy {

// A borrowed view of contiguous elements. It must not outlive them; those of a
// temporary list live until the end of the full expression.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const std::vector<T>& v) : data_(v.data()), size_(v.size()) {}
  template <size_t N>
  constexpr ArrayRef(const T (&a)[N]) : data_(a), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& a) : data_(a.data()), size_(N) {}
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(std::initializer_list<T> l)
      : data_(l.begin()), size_(l.size()) {}
#pragma GCC diagnostic pop

  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  const T& at(size_t i) const {
    SY_CHECK(i < size_, Index,
             "ArrayRef: index {} is out of range for {} elements", i, size_);
    return data_[i];
  }
  constexpr ArrayRef slice(size_t start, size_t n) const {
    return {data_ + start, n};
  }
  std::vector<T> vec() const { return {begin(), end()}; }
  constexpr bool equals(ArrayRef o) const {
    if (size_ != o.size_) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == o.data_[i])) return false;
    }
    return true;
  }
  friend constexpr bool operator==(ArrayRef a, ArrayRef b) {
    return a.equals(b);
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <>
class ArrayRef<bool> {
 public:
  using value_type = bool;
  constexpr ArrayRef() = default;
  constexpr ArrayRef(const bool* data, size_t size)
      : data_(data), size_(size) {}
  template <size_t N>
  constexpr ArrayRef(const std::array<bool, N>& a)
      : data_(a.data()), size_(N) {}
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(std::initializer_list<bool> l)
      : data_(l.begin()), size_(l.size()) {}
#pragma GCC diagnostic pop
  constexpr const bool* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const bool* begin() const { return data_; }
  constexpr const bool* end() const { return data_ + size_; }
  constexpr bool operator[](size_t i) const { return data_[i]; }

 private:
  const bool* data_ = nullptr;
  size_t size_ = 0;
};

using IntArrayRef = ArrayRef<int64_t>;

// A list of ints or none: the C++ type of `int[]?`. std::optional<IntArrayRef>
// would convert an int to an int64_t within its own constructor, and then refer
// to a number that is gone. Here, as with ArrayRef, that number lives until the
// end of the expression.
class OptionalIntArrayRef {
 public:
  constexpr OptionalIntArrayRef() = default;
  constexpr OptionalIntArrayRef(std::nullopt_t) {}
  constexpr OptionalIntArrayRef(IntArrayRef list) : list_(list) {}
  template <class T>
  requires std::is_convertible_v<const T&, IntArrayRef>
  constexpr OptionalIntArrayRef(const std::optional<T>& list) {
    if (list) list_ = *list;
  }
  constexpr OptionalIntArrayRef(const int64_t& one) : list_(one) {}
  OptionalIntArrayRef(std::initializer_list<int64_t> l)
      : list_(IntArrayRef(l)) {}
  template <class T>
  requires(
      !std::is_arithmetic_v<T> && !std::is_same_v<T, IntArrayRef> &&
      std::is_convertible_v<
          const T&, IntArrayRef>) constexpr OptionalIntArrayRef(const T& list)
      : list_(IntArrayRef(list)) {}

  constexpr bool has_value() const { return list_.has_value(); }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const IntArrayRef& value() const { return list_.value(); }
  constexpr const IntArrayRef& operator*() const { return *list_; }
  constexpr const IntArrayRef* operator->() const { return &*list_; }
  constexpr IntArrayRef value_or(IntArrayRef other) const {
    return list_.value_or(other);
  }

 private:
  std::optional<IntArrayRef> list_;
};

// "[2, 3]"
SY_API std::string to_string(IntArrayRef list);
template <class Char, class Traits, class T>
std::basic_ostream<Char, Traits>& operator<<(
    std::basic_ostream<Char, Traits>& out, ArrayRef<T> list) {
  const char* before = "[";
  for (const T& v : list) {
    out << before << v;
    before = ", ";
  }
  return out << (list.empty() ? "[]" : "]");
}

}  // namespace sy
