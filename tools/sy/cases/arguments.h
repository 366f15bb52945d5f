#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/schema/function_schema.h"
#include "c10/tensor/value.h"
#include "tools/sy/cases/case_file.h"
#include "tools/sy/cases/tensors.h"

namespace sy::tools {

// A tensor argument; `tensors.1` for an element of a list.
struct NamedTensor {
  std::string name;
  TensorBase tensor;
};

// The arguments of a call in the schema's order, defaults filled in.
struct Arguments {
  std::vector<Value> values;
  std::vector<NamedTensor> tensors;
  // nullptr if there is none of that name.
  const NamedTensor* find(const std::string& name) const;
  // The number of elements of the largest tensor, at least 1: one number of a
  // result, or of a gradient, is a sum of no more.
  int64_t most_elements() const;
};

using TensorChange = std::function<Tensor(const Tensor&)>;
// Every tensor of the arguments, changed.
void change_tensors(const FunctionSchema& schema, const TensorChange& change,
                    Arguments& arguments);

// The same numbers in float64, each off by 1e-12, or 1e-6 if they were not
// float64, and as much of the number: only what is nearly singular there shows
// it. Other dtypes stay.
Tensor moved_a_little(const Tensor& t);

// The results of a call with these arguments. Throws what the operator throws.
std::vector<Value> call_with(OperatorHandle op, std::vector<Value> args);

// Fresh arguments of a case on `device`, which stands for every device that the
// case names; factories without a device are given it too. Throws ValueError
// if the case does not fit the schema.
Arguments bind_arguments(const FunctionSchema& schema, const Case& c,
                         const Safetensors& storages, Device device);

}  // namespace sy::tools
