#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "c10/tensor/value.h"

// Functions of exported graphs that are no operators here: Python's arithmetic
// of sizes, assertions, and complex numbers.

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

struct ComplexInfo {
  std::string_view schema;
  // Takes one more argument, an int: bit i says that argument i has complex
  // numbers. Those are tensors of one more dim, of real and imaginary parts.
  NativeFunction run;
};

// The function that computes an operator of complex numbers, "aten::polar".
std::optional<ComplexInfo> complex_function(std::string_view name);

}  // namespace sy::exporting
