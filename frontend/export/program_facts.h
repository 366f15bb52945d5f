#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aten/tensor.h"

namespace sy {

// What an exported program says of itself, also where it cannot run.
struct ProgramFacts {
  struct Node {
    std::string name;
    std::string target;  // "aten::add.Tensor", or as the file has it
    std::string module, module_type;  // "encoder.layer.0", where it was written
    std::vector<std::string> reads, makes;  // names of values
    bool is_known = true;                   // there is such an operator
    int depth = 0;                          // of graphs in graphs
  };
  struct Held {
    std::string kind;  // "parameter", "buffer", "constant"
    std::string name, value;
    std::vector<int64_t> sizes;
    std::string dtype;
    int64_t bytes = 0;
    bool requires_grad = false;
  };
  std::string model, torch_version;
  std::vector<std::string> inputs;   // "x: float32[s0, 3]"
  std::vector<std::string> outputs;  // "[0].logits"
  // The values that the graph takes and gives, by name.
  std::vector<std::pair<std::string, std::string>> input_values, output_values;
  std::vector<Held> held;
  std::vector<Node> nodes;  // a graph's after the node that has it
  // Inputs like those of the export, on device meta: tensors without elements.
  std::vector<Tensor> example;
};

// Reads them. Throws FileError as load_program() does, but not for operators
// that there are not.
SY_API ProgramFacts describe_program(const std::string& path,
                                     const std::string& model = "model");

}  // namespace sy
