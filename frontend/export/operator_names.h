#pragma once

#include <string>
#include <string_view>

// Names of operators in exported graphs.

namespace sy::exporting {

inline constexpr std::string_view kOperators = "torch.ops.";
inline constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";

// "aten::add.Tensor" of "torch.ops.aten.add.Tensor"; ".default" is no overload.
// Other targets are as they were.
std::string target_name(std::string_view target);

// Whether a node of that target can run.
bool is_known_target(std::string_view target);

// The graphs that a target of kHigherOrder takes: cond, while_loop, ...
enum class GraphCall {
  Unknown,
  Cond,
  WhileLoop,
  Map,
  Scan,
  SetGradEnabled,
  Autocast,
};
GraphCall graph_call(std::string_view target);

}  // namespace sy::exporting
