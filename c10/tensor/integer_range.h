#pragma once

#include <cstdint>
#include <limits>

#include "c10/tensor/scalar_type.h"

namespace sy {

// The least and the largest number of an integer dtype or bool.
struct IntegerRange {
  int64_t low, high;
};

constexpr IntegerRange integer_range(ScalarType t) {
  if (t == ScalarType::Bool) return {0, 1};
  if (t == ScalarType::Byte) return {0, 255};
  const int64_t high = std::numeric_limits<int64_t>::max() >>
                       (64 - 8 * static_cast<int>(element_size(t)));
  return {-high - 1, high};
}

}  // namespace sy
