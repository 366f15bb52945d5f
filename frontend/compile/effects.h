#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "frontend/compile/reach.h"

namespace sy::compiling {

// Whether a callable writes what it sees beside tensors: sums, lists of
// numbers. A replay would leave such writes out. Whole numbers to which a call
// adds one are told apart: if each call does, they count how often the code
// runs, and it is right that replays do not.
class Effects {
 public:
  // Notes the memory before the call, whose results go to `out`.
  Effects(const Arguments& a, const Outputs* out);

  struct Found {
    // The kind of memory that it has written, "a variable on the stack"; "" if
    // it has written none.
    std::string written;
    // The places where it has added one, in the order of addresses.
    std::vector<const char*> counters;
  };
  // Compares the memory after the call.
  Found found() const;

 private:
  bool is_left_out(const char* at) const;

  // Results, and elements of arguments.
  std::vector<std::pair<const char*, size_t>> left_out_;
  const Reach reach_;
};

}  // namespace sy::compiling
