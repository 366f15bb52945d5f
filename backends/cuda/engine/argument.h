#pragma once

#include <cstddef>
#include <cstring>

#include "backends/cuda/device/number.cuh"
#include "c10/process/error.h"

namespace sy::cuda {

// The argument of a printed kernel, part by part, as the templates of
// device/*_params.cuh have it: its size depends on how many operands and
// numbers there are.
class Argument {
 public:
  template <class T>
  void add(const T& part) {
    static_assert(sizeof(T) % 8 == 0);
    put(&part, sizeof(T));
  }
  void add_data(char* const* data, int n) {
    put(data, static_cast<size_t>(n) * sizeof(char*));
  }
  // The first n operands of a struct that ends with the strides of each.
  template <class Where>
  void add_places(const Where& w, int n) {
    constexpr size_t kEach = sizeof(w.strides[0]);
    static_assert(offsetof(Where, strides) + sizeof(w.strides) == sizeof(w));
    put(&w, offsetof(Where, strides) + static_cast<size_t>(n) * kEach);
  }
  // There is room for one number even if there is none.
  void add_numbers(const Number* numbers, size_t n) {
    put(numbers, n * sizeof(Number));
    if (n == 0) add(Number{});
  }
  void* data() { return bytes_; }
  size_t size() const { return used_; }

 private:
  void put(const void* from, size_t n) {
    SY_INTERNAL_ASSERT(used_ + n <= sizeof(bytes_));
    if (n > 0) std::memcpy(bytes_ + used_, from, n);
    used_ += n;
  }
  alignas(16) char bytes_[4096];
  size_t used_ = 0;
};

}  // namespace sy::cuda
