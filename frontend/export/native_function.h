#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "c10/tensor/value.h"

// Functions of exported graphs that are no operators: Python's arithmetic of
// sizes, and assertions.

namespace sy::exporting {

// Takes all arguments, gives the result; None if it has none.
using NativeFunction = Value (*)(const Value* args, size_t n);

struct NumberInfo {
  NativeFunction run;
  size_t min, max;  // the number of arguments
};

// The function of a target such as "_operator.floordiv" or "torch.sym_max".
// Results are what Python's would be: true division gives a double, and
// integers stay integers. Calls throw ValueError for a division by 0 and for
// integers beyond 64 bits.
std::optional<NumberInfo> number_function(std::string_view target);

struct AssertionInfo {
  std::string_view schema;  // "aten::_assert_scalar(Scalar self, ...) -> ()"
  NativeFunction run;       // throws ValueError if it does not hold
};

// The assertion of an operator's name, "aten::_assert_scalar".
std::optional<AssertionInfo> assertion_function(std::string_view name);

}  // namespace sy::exporting
