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
  // Before the call. `out` is where its results go.
  Effects(const Arguments& a, const Outputs* out);

  struct Found {
    // What it has written, "" if nothing: "a variable on the stack".
    std::string written;
    // Where it has added one, in the order of addresses.
    std::vector<const char*> counters;
  };
  // After the call.
  Found found() const;

 private:
  bool is_left_out(const char* at) const;

  // Results, and elements of arguments.
  std::vector<std::pair<const char*, size_t>> left_out_;
  const Reach reach_;
};

}  // namespace sy::compiling
