#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "frontend/export/inputs.h"
#include "frontend/export/plan.h"

// A loaded program, shared by the copies of its module.

namespace sy::exporting {

struct ProgramPlan {
  // A parameter, buffer or constant.
  struct Held {
    enum class Kind : uint8_t { Parameter, Buffer, Constant };
    Kind kind;
    std::string name;  // "encoder.layer.0.weight"
    bool persistent;
    Tensor tensor;  // as the file has it
  };
  // What an input of the graph is: the next of the user's, or one of `held`.
  static constexpr int32_t kUser = -1;

  std::string path, torch_version;
  Inputs inputs;
  GraphPlan graph;
  std::vector<int32_t> sources;  // of the graph's inputs
  std::vector<Held> held;
  // Results that are stored and not returned: to one of `held`, or to the
  // user's input of the number.
  struct Mutation {
    size_t output;
    int32_t held = -1, input = -1;
  };
  std::vector<Mutation> mutations;
  std::vector<size_t> returned;  // outputs, the leaves of `out`
  TreeSpec out;
  // The types of modules by path, as Python names them.
  std::vector<std::pair<std::string, std::string>> modules;
};

}  // namespace sy::exporting
