#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontend/compile/function.h"

namespace sy::compiling {

// Whether a callable writes what it sees beside tensors: counters, sums, lists
// of numbers. A replay would leave such writes out. What it sees is the
// callable itself, what it refers to on the stack and on the heap, and what
// these point to. Global variables, and what lies three pointers away, are not
// looked at.
//
// Objects whose class has its virtual functions in this library (tensors,
// storages, optimizers, modules) are left out: captures see what happens to
// them.
class Effects {
 public:
  // Before the call. `out` is where its results go. `a` and `out` outlive this.
  Effects(const Arguments& a, const Outputs* out);

  // After the call, on the same thread: what it has written, "" if nothing:
  // "a variable on the stack".
  std::string written() const;

 private:
  // Memory as it was, in words.
  struct Image {
    const char* at;
    const char* what;
    std::vector<uintptr_t> words;
  };
  struct Place {
    const void* at;
    size_t bytes;
    const char* what;
  };

  void take(const std::vector<Place>& places);
  // Places that the words of images point to, from the image `first` on.
  std::vector<Place> behind(size_t first) const;
  Place place_of(uintptr_t word) const;
  bool is_known(const void* at) const;
  bool is_left_out(const char* at) const;

  // Results, and elements of arguments.
  std::vector<std::pair<const char*, size_t>> left_out_;
  std::vector<Image> images_;
};

}  // namespace sy::compiling
