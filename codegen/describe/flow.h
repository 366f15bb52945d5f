#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "codegen/model_names.h"
#include "model/model.h"

// Private to describe_flow.

namespace sy::codegen {

// The elements of a small input that an operator's result is made of.
struct Flow {
  struct Grid {
    std::string name;  // "self"
    std::vector<std::int64_t> sizes;
    // The texts of the cells, row by row; none of the cells has text if there
    // are fewer.
    std::vector<std::string> texts;
    std::string note;  // in small letters
    // The sizes that stand behind the name, if they are others: "[3]" for cells
    // that stand as [3, 1].
    std::string shape = {};
    // Whether it says where others go and does not go anywhere itself: an
    // index.
    bool is_plain = false;
  };
  std::vector<Grid> inputs;
  std::vector<Grid> outputs;
  // The cells of the inputs for each cell of the outputs. Cells are counted
  // through all inputs, and through all outputs.
  std::vector<std::vector<int>> from;
  // Each cell of the output continues the one before it.
  bool is_scan = false;
  std::string call;  // "transpose(self, 0, 1)"
};

struct FlowTensor {
  std::vector<std::int64_t> sizes;
  bool is_bool = false;
};

// The arguments of the operator's example: tensors as sizes, the others as
// values; None is std::monostate. Lists of tensors and arguments that only
// kernels read are left out.
struct FlowExample {
  using Value =
      std::variant<std::monostate, std::int64_t, bool, double, std::string,
                   std::vector<std::int64_t>, FlowTensor>;
  std::map<std::string, Value> values;
  std::vector<std::string> tensors;  // names, in order
  // The values as the call writes them: "2", "[0, 1]"; none for a default.
  std::map<std::string, std::string> texts;
};
std::optional<FlowExample> example_of(const Operator& op);

// "name(self, dim=1)"
std::string call_text(const Operator& op, const FlowExample& example);

// The elements of a tensor of these sizes.
std::int64_t count_of(const std::vector<std::int64_t>& sizes);
std::vector<std::int64_t> contiguous_strides(
    const std::vector<std::int64_t>& sizes);
// "[2, 3]"
std::string sizes_text(const std::vector<std::int64_t>& sizes);

// The flow of `reduce:`, of `scan:`, and of `pointwise:` if the example's
// tensors broadcast.
std::optional<Flow> reduce_flow(const Operator& op, const FlowExample& example);
std::optional<Flow> scan_flow(const Operator& op, const FlowExample& example);
std::optional<Flow> broadcast_flow(const Operator& op,
                                   const FlowExample& example);

}  // namespace sy::codegen
