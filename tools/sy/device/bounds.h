#pragma once

#include <functional>
#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/cases/arguments.h"

namespace sy::tools {

// How far right results of one call may lie from those of the CPU. It follows
// from the dtype of the results, from how many elements one result is made of,
// and from the condition: how much the results, computed in float64, change
// when each argument changes by one rounding. Whole numbers have no bound: they
// are equal.
class Bounds {
 public:
  // `arguments` makes those of the call, on the CPU.
  Bounds(OperatorHandle op, std::function<Arguments()> arguments)
      : op_(op), arguments_(std::move(arguments)) {}

  // Compares tensor `j` of value `k` of the call: its results, then its
  // arguments. Returns what is wrong, "" if nothing is.
  std::string compare(size_t k, size_t j, const TensorBase& actual,
                      const TensorBase& expected);

 private:
  // A number for each element of each tensor of each value, in row-major order.
  using Elements = std::vector<std::vector<std::vector<double>>>;

  void measure(ScalarType dtype);
  Elements compute(double rounding, int kind) const;

  OperatorHandle op_;
  std::function<Arguments()> arguments_;
  ScalarType measured_ = ScalarType::Undefined;
  Elements condition_;
};

}  // namespace sy::tools
