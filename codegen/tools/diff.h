#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "codegen/model_names.h"
#include "model/model.h"

// The meaning of a change of schemas for callers of the operators.

namespace sy::codegen {

struct Change {
  std::string op;    // "add.Tensor"
  std::string what;  // "default-changed"
  bool compatible;
  std::string detail;         // "default of 'alpha' changed from 1 to 2"
  std::string why;            // "calls that leave it out mean something else"
  std::string before, after;  // places, "" where there is none
};

// The changes, by operator. Texts that differ only in spelling are no change.
// Values of two different `pointwise:` expressions are compared at points.
std::vector<Change> compare(const Model& before, const Model& after);

// `sygen diff`: files or folders of files. 0: nothing incompatible, 1:
// something is, 2: they cannot be compared.
int diff_schemas(const std::string& before, const std::string& after, bool json,
                 std::ostream& out, std::ostream& err);

}  // namespace sy::codegen
