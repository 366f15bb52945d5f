#pragma once

#include <optional>
#include <string>
#include <string_view>

// Names of operators in exported graphs.

namespace sy::exporting {

inline constexpr std::string_view kOperators = "torch.ops.";
inline constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";

// "aten::add.Tensor" of "torch.ops.aten.add.Tensor"; ".default" is no overload.
// Other targets are as they were.
std::string target_name(std::string_view target);

// An operator of ATen that computes what one of a Python package does. The
// package's arguments are its first ones. A library that has the package's
// operator goes first.
struct StandIn {
  std::string_view schema;  // the package's
  std::string_view op;
};
std::optional<StandIn> stand_in(std::string_view name);

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
