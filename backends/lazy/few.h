#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace sy::lazy {

// A list that keeps its first N elements in itself: recorded calls have few
// operands and results, and take one allocation.
template <class T, size_t N>
class Few {
 public:
  Few() = default;
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;
  ~Few() {
    clear();
    if (begin_ != own()) ::operator delete(begin_);
  }

  void push_back(T v) { emplace_back(std::move(v)); }
  template <class... A>
  T& emplace_back(A&&... args) {
    if (size_ == capacity_) grow(2 * capacity_);
    return *new (begin_ + size_++) T(std::forward<A>(args)...);
  }
  // New elements are value-initialised.
  void resize(size_t n) {
    if (n > capacity_) grow(n);
    while (size_ < n) new (begin_ + size_++) T();
    while (size_ > n) begin_[--size_].~T();
  }
  void clear() noexcept {
    while (size_ > 0) begin_[--size_].~T();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return begin_; }
  const T* data() const { return begin_; }
  T& operator[](size_t i) { return begin_[i]; }
  const T& operator[](size_t i) const { return begin_[i]; }
  T* begin() { return begin_; }
  T* end() { return begin_ + size_; }
  const T* begin() const { return begin_; }
  const T* end() const { return begin_ + size_; }

 private:
  T* own() { return reinterpret_cast<T*>(inline_); }
  void grow(size_t n) {
    T* const to = static_cast<T*>(::operator new(n * sizeof(T)));
    for (size_t i = 0; i < size_; ++i) {
      new (to + i) T(std::move(begin_[i]));
      begin_[i].~T();
    }
    if (begin_ != own()) ::operator delete(begin_);
    begin_ = to;
    capacity_ = static_cast<uint32_t>(n);
  }

  T* begin_ = own();
  uint32_t size_ = 0, capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace sy::lazy
