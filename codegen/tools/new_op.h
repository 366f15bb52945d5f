#pragma once

#include <iosfwd>
#include <string>

namespace sy::codegen {

struct NewOpOptions {
  std::string signature;
  std::string kind;    // "" for the one that the signature suggests
  std::string family;  // the file to add it to; "" for the output
  // For kind dispatch: the key of the backend that gets a kernel.
  std::string key = "CPU";
};

// "pointwise reduce …": the kinds that an entry can have.
std::string op_kinds();

// `sygen new-op`: an entry that passes `sygen check` once the words in capitals
// are filled in. Nothing is written after an error.
int new_op(const NewOpOptions& options, std::ostream& out, std::ostream& err);

}  // namespace sy::codegen
