#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "c10/dispatch/dispatcher.h"

// What the exporter knows of operators beside their schemas.

namespace sy::exporting {

// Whether PyTorch has an operator of that name and signature. Those of aten are
// PyTorch's but for a list of Switchyard's own.
bool python_has(std::string_view name,
                const std::vector<std::string>& namespaces);

// Whether its kernel is made of other operators, for tensors of that device.
bool is_composed(const OperatorEntry& op, Device device);

// What an exported program must not depend on.
enum class DataUse {
  None,
  Number,  // gives elements to the host
  Sizes,   // the sizes of results depend on elements
};
DataUse data_use(const OperatorEntry& op, const Value* args);

}  // namespace sy::exporting
