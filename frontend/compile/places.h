#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "frontend/compile/path.h"

namespace sy::compiling {

// The places where a callable has its arguments beside being given them: a
// variable that it refers to, an element of a list. A capture cannot tell which
// of the two the code reads. So its graph fits other arguments only if these
// are there too.
class Places {
 public:
  Places() = default;
  // Finds them before the call. `code` is a function of the library that has
  // the callable.
  Places(const Arguments& a, const void* code);

  // Whether all have the arguments of this call, as they had those of the
  // capture.
  bool hold(const Arguments& a) const;
  // Drops the places that differ. This call, which they do not hold for, has
  // given the same graph, so the code does not read them.
  void accept(const Arguments& a);

 private:
  struct ArgumentPlace {
    std::optional<Path> path;  // otherwise it is in the callable
    size_t offset = 0;         // there
    size_t argument = 0;
    bool has(const Arguments& a) const;
  };
  void add(const void* word, const Arguments& a, ArgumentPlace at);

  std::vector<ArgumentPlace> places_;
};

}  // namespace sy::compiling
