#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sy::codegen {
class Model;
struct Operator;
}  // namespace sy::codegen

namespace sy::codegen::site {

// Which elements of a small input an operator's result is made of: what
// flow_svg draws.
struct Flow {
  struct Grid {
    std::string name;  // "self"
    std::vector<std::int64_t> sizes;
    // What stands in the cells, row by row; none of the cells has text if
    // there are fewer.
    std::vector<std::string> texts;
    std::string note;  // in small letters
    // Sizes as the name has them behind it, where they are others: "[3]" of
    // cells that stand as [3, 1].
    std::string shape = {};
    // Says where others go and does not go anywhere itself: an index.
    bool is_plain = false;
  };
  std::vector<Grid> inputs;
  std::vector<Grid> outputs;
  // Of each cell of the outputs, which are counted through all of them, the
  // cells of the inputs, likewise.
  std::vector<std::vector<int>> from;
  // Cells are only moved: those of an output are those of an input.
  bool moves = false;
  // Each cell of the output continues the one before it.
  bool is_scan = false;
  std::string call;  // "transpose(self, 0, 1)"
};

// From `view:`, `reduce:`, `scan:`, or a composite that calls views alone;
// of `pointwise:` where the example's tensors broadcast. Nothing where the
// operator does not say what goes where, or nothing moves.
std::optional<Flow> flow_of(const Model& model, const Operator& op);

// As `sy facts` finds it by changing one element at a time,
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
