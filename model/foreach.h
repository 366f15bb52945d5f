#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model.h"

// `foreach:`, the expression of one element of lists of tensors.

namespace sy::model {

struct ForeachPlan {
  // The arguments that are lists, of tensors or of numbers; never empty.
  std::vector<std::string> lists;
  // The result for the elements at `i`.
  lang::TensorCode each;
  // "each.add_(other[i])", if the operator has an in-place form: the call that
  // writes one tensor of the written list. `written` is its name, "each".
  std::string inplace;
  std::string written;
};

// Nothing after an error. The expression gives an element the name of its
// list, and calls the index `i`.
std::optional<ForeachPlan> plan_foreach(const Model& model, const Operator& op,
                                        lang::Diagnostics& diagnostics);

}  // namespace sy::model
