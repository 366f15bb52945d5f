#pragma once

#include <cstdint>
#include <string_view>

#include "c10/tensor/scalar_type.h"

// The classes and functions that PyTorch's archives may name.

namespace sy::io {

enum class TorchRole : uint8_t {
  Unknown,
  Refused,           // known, but what it makes is not supported
  OrderedDict,       // ()
  Storage,           // stands in storages' ids
  Word,              // a dtype, as a value
  TensorType,        // torch.Tensor and parameters, as a value
  Size,              // (tuple)
  Device,            // (name) or (type, index)
  RebuildTensor,     // (storage, offset, sizes, strides)
  RebuildTensor2,    // (.., requires_grad, hooks, [metadata])
  RebuildTensor3,    // (.., requires_grad, hooks, dtype, [metadata])
  RebuildParameter,  // (tensor, requires_grad, hooks, [state])
  RebuildFromType,   // (function, type, arguments, state)
  BuildList,         // (list)
  RestoreTag,        // (value, type)
  Class,             // of a C++ or TorchScript module
};

struct TorchGlobal {
  const char* module;
  const char* name;
  TorchRole role;
  // Undefined for untyped storages, and where it means nothing.
  ScalarType dtype = ScalarType::Undefined;
  const char* kind = "";  // of what is refused
};

// The number of a global; that of an unknown one if it is not in the table.
uint64_t find_torch_global(std::string_view module, std::string_view name);
const TorchGlobal& torch_global(uint64_t number);

}  // namespace sy::io
