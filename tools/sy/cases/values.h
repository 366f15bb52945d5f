#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "c10/schema/function_schema.h"
#include "c10/tensor/value.h"
#include "tools/sy/support/json.h"

// The VALUEs of case files as boxed values.

namespace sy::tools {

// The number in {"float": 1.5}, "inf", "-inf" and "nan" included.
std::optional<double> float_of(const Json& v);
// The dtype that ATen numbers so: 6 is float32.
std::optional<ScalarType> dtype_of_number(const Json& v);

// The context that makes a value of its text.
struct ValueContext {
  // Makes the tensor of a VALUE; the name is that of the argument, `dims.0`
  // for an element of a list.
  std::function<TensorBase(const Json& v, const std::string& name)> tensor;
  // Stands for every device that a case names.
  Device device;
};

// Throws ValueError if the VALUE does not fit the type.
Value value_of(const Json& v, Type type, const std::string& name,
               const ValueContext& context);

// The default of an argument as a VALUE. Throws ValueError if it has none.
Json default_of(const Argument& argument);

// The elements of a list of numbers.
std::vector<Value> elements_of(const Value& list);

}  // namespace sy::tools
