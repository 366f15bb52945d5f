#pragma once

#include <string_view>

#include "backends/cuda/compile/module.h"
#include "c10/scalar_type.h"

namespace sy::cuda {

// What device/order.cuh wants to know of a dtype.
struct KeyKind {
  int bits;
  Define defines[3];

  ArrayRef<Define> all() const { return {defines, 3}; }
};
KeyKind key_kind(ScalarType dtype);

}  // namespace sy::cuda
