#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aten/tensor.h"
#include "c10/device/generator.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"

// An operator along a line through its arguments, and its derivatives there.

namespace sy::tools {

using Numbers = std::vector<double>;

// Numbers between -0.4 and 0.6 that differ and repeat in no pattern.
double direction(int64_t i);

// The operator as a function of those arguments that are float64 and require a
// gradient. Random numbers are the same in each call.
class Inputs {
 public:
  Inputs(OperatorHandle op, const std::vector<Value>& args);
  size_t size() const { return examples_.size(); }
  const Tensor& example(size_t i) const { return examples_[i]; }
  // "self", or "tensors.1".
  std::string name(size_t i) const;

  struct Result {
    // The sum of the elements of the results, each with its own factor.
    // Undefined if there are none of floats.
    Tensor sum;
    int64_t elements = 0;  // in the sum
    bool recorded = false;
  };
  // Sums the results that record a gradient; all results, if none does.
  Result call(const std::vector<Tensor>& inputs) const;

 private:
  void add(size_t argument, int element, const TensorBase& t);
  void put(std::vector<Value>& values, size_t i, const Tensor& t) const;
  std::vector<Value> results(const std::vector<Tensor>& inputs) const;

  OperatorHandle op_;
  std::vector<Value> args_;
  std::vector<std::pair<size_t, int>> places_;
  std::vector<Tensor> examples_;
  Generator generator_;
  uint64_t seed_, offset_;
};

// A place, and a way to go from it.
struct Line {
  std::vector<Tensor> at, step;
};

// Input i at `elements(i)`, and a direction that no error is likely to be
// orthogonal to.
Line line_through(const Inputs& inputs, const std::vector<Numbers>& elements);

// The same place, and a way along one element of input i.
Line line_of_element(const Inputs& inputs, const Line& line, size_t i,
                     int64_t element);

// The inputs at `at + t step`; t is a number in a tensor.
std::vector<Tensor> along(const Inputs& inputs, const Line& line,
                          const Tensor& t);

// The derivatives by t of the result at `at + t step` where t is t0: of the
// orders 0 to `orders`, as far as there are any.
Numbers derivatives(const Inputs& inputs, const Line& line, double t0,
                    int orders);

}  // namespace sy::tools
