#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/model_names.h"
#include "codegen/site/flow.h"
#include "lang/index_eval.h"
#include "model/model.h"

// Private to flow_of.

namespace sy::codegen::site {

// The arguments of the operator's example: tensors as sizes, contiguous, the
// others as values. Lists of tensors and arguments that only kernels read are
// left out.
struct FlowExample {
  lang::IndexValues values;
  std::vector<std::string> tensors;  // names, in order
  // The values as the call writes them: "2", "[0, 1]"; none for a default.
  std::map<std::string, std::string> texts;
};
std::optional<FlowExample> example_of(const Operator& op);

// "name(self, dim=1)"
std::string call_text(const Operator& op, const FlowExample& example);

std::vector<std::int64_t> contiguous_strides(
    const std::vector<std::int64_t>& sizes);
// "[2, 3]"
std::string sizes_text(const std::vector<std::int64_t>& sizes);
// "0", "1" …
std::vector<std::string> counted(std::int64_t n, std::int64_t first = 0);

std::optional<Flow> view_flow(const Model& model, const Operator& op,
                              const FlowExample& example);
std::optional<Flow> reduce_flow(const Operator& op, const FlowExample& example);
std::optional<Flow> scan_flow(const Operator& op, const FlowExample& example);
std::optional<Flow> broadcast_flow(const Operator& op,
                                   const FlowExample& example);

}  // namespace sy::codegen::site
