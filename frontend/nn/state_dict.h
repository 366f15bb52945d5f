#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/io/named_tensors.h"

namespace sy::nn {

// The tensors of a module by path, and the version of each module by its path
// ("" for the root). Files keep the tensors alone, as PyTorch's do.
class StateDict : public NamedTensors {
 public:
  using NamedTensors::NamedTensors;
  StateDict() = default;
  StateDict(NamedTensors tensors) : NamedTensors(std::move(tensors)) {}

  std::map<std::string, int64_t> versions;
};

// Names that a state dict and a module do not share.
struct LoadReport {
  std::vector<std::string> missing_keys;     // of the module
  std::vector<std::string> unexpected_keys;  // of the state dict
};

}  // namespace sy::nn
