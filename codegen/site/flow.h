#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>
#include "codegen/model_names.h"

namespace sy::codegen {}  // namespace sy::codegen

namespace sy::codegen::site {

// The elements of a small input that an operator's result is made of. flow_svg
// draws them.
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

// The flow of `view:`, `reduce:`, `scan:`, or a composite that calls views
// alone; of `pointwise:` if the example's tensors broadcast. Nothing if the
// operator does not say what goes where, or nothing moves.
std::optional<Flow> flow_of(const Model& model, const Operator& op);

// Reads a flow that `sy facts` finds by changing one element at a time,
//   {"call": "gather(self, dim=1, index)", "moves": true,
//    "inputs": [{"name": "self", "sizes": [2, 3], "texts": ["0", …]},
//               {"name": "index", "sizes": [2, 2], "plain": true, …}],
//    "outputs": [{"name": "result", "sizes": [2, 2], "texts": ["2", …]}],
//    "from": [[2, 6], …]}
// `texts`, `plain` and `moves` may be missing. Nothing if it is not so;
// `error`, which may be null, then says why: "from[3]: expected …".
std::optional<Flow> read_flow(const nlohmann::json& json, std::string* error);

// Empty if it would be too large.
std::string flow_picture(const Flow& flow);

// The elements of a tensor of these sizes.
std::int64_t count_of(const std::vector<std::int64_t>& sizes);

}  // namespace sy::codegen::site
