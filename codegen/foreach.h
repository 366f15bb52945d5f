#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/model.h"

// `foreach:`, the expression of one element of lists of tensors.

namespace sy::codegen {

struct ForeachPlan {
  // The arguments that are lists, of tensors or of numbers; never empty.
  std::vector<std::string> lists;
  // The result for the elements at `i`.
  lang::TensorCode each;
  // "each.add_(other[i])", where the operator has an in-place form: what
  // writes one tensor of the written list, which it calls "each".
  std::string inplace;
  std::string written;
};

// Nothing after an error. The expression names elements as the lists are
// named, and their index `i`.
std::optional<ForeachPlan> plan_foreach(const Model& model, const Operator& op,
                                        lang::Diagnostics& diagnostics);

}  // namespace sy::codegen
