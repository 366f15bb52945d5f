#pragma once

#include <string_view>

#include "backends/cuda/compile/module.h"
#include "c10/tensor/scalar_type.h"

namespace sy::cuda {

// The facts about a dtype that device/order.cuh needs.
struct KeyKind {
  int bits;
  Define defines[3];

  ArrayRef<Define> all() const { return {defines, 3}; }
};
KeyKind key_kind(ScalarType dtype);

}  // namespace sy::cuda
