#pragma once

#include <string>

#include "aten/tensor.h"
#include "frontend/io/ordered_dict.h"

namespace sy {

// Tensors by name, in an order of their own: {{"weight", w}, {"bias", b}}. Each
// name stands once. A value type; copies share the tensors.
class NamedTensors : public OrderedDict<std::string, Tensor> {
 public:
  using OrderedDict::OrderedDict;
  NamedTensors() = default;
};

}  // namespace sy
