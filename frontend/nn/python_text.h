#pragma once

#include <optional>
#include <string>

#include "c10/tensor/array_ref.h"

// Values as Python prints them, for extra_repr().

namespace sy::nn::detail {

// "True"
std::string python_bool(bool value);
// "1e-05", "2.0"
std::string python_float(double value);
// The same, or "None".
std::string python_float(const std::optional<double>& value);
// "(3, 5)", "(3,)"
std::string python_tuple(IntArrayRef values);
// A tuple; one value if all are equal.
std::string python_size(IntArrayRef values);
std::string python_size(ArrayRef<double> values);
std::string python_size(ArrayRef<std::optional<int64_t>> values);

}  // namespace sy::nn::detail
