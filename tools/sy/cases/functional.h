#pragma once

#include <string>
#include <vector>

#include "tools/sy/cases/arguments.h"

namespace sy::tools {

// A call with functional tensors (aten/backend/functionalize.h) in place of its
// arguments, which must never be written then.
class FunctionalCall {
 public:
  // The arguments as they were bound; they are functional afterwards, and share
  // memory as they did.
  explicit FunctionalCall(Arguments& arguments);

  // "" if the tensors that were bound have the bytes that they had; otherwise
  // what was written.
  std::string values_untouched() const;

 private:
  struct Plain {
    std::string name;
    Storage storage;
    std::string bytes;
  };
  std::vector<Plain> plain_;
};

}  // namespace sy::tools
