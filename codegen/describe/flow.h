#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/model_names.h"
#include "lang/index_eval.h"
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
  // Cells are only moved: those of an output are those of an input.
  bool moves = false;
  // Each cell of the output continues the one before it.
  bool is_scan = false;
  std::string call;  // "transpose(self, 0, 1)"
};

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

// The elements of a tensor of these sizes.
std::int64_t count_of(const std::vector<std::int64_t>& sizes);
std::vector<std::int64_t> contiguous_strides(
    const std::vector<std::int64_t>& sizes);
// "[2, 3]"
std::string sizes_text(const std::vector<std::int64_t>& sizes);
// "0", "1" …
std::vector<std::string> counted(std::int64_t n, std::int64_t first = 0);

// The flow of `view:` or of a composite that calls views alone, of `reduce:`,
// of `scan:`, and of `pointwise:` if the example's tensors broadcast.
std::optional<Flow> view_flow(const Model& model, const Operator& op,
                              const FlowExample& example);
std::optional<Flow> reduce_flow(const Operator& op, const FlowExample& example);
std::optional<Flow> scan_flow(const Operator& op, const FlowExample& example);
std::optional<Flow> broadcast_flow(const Operator& op,
                                   const FlowExample& example);

}  // namespace sy::codegen
