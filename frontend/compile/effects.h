#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "frontend/compile/reach.h"

namespace sy::compiling {

// Whether a callable writes what it sees beside tensors: counters, sums, lists
// of numbers. A replay would leave such writes out.
class Effects {
 public:
  // Before the call. `out` is where its results go.
  Effects(const Arguments& a, const Outputs* out);

  // After the call: what it has written, "" if nothing: "a variable on the
  // stack".
  std::string written() const;

 private:
  bool is_left_out(const char* at) const;

  // Results, and elements of arguments.
  std::vector<std::pair<const char*, size_t>> left_out_;
  const Reach reach_;
};

}  // namespace sy::compiling
