#pragma once

#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/cases/arguments.h"
#include "tools/sy/cases/compare.h"

namespace sy::tools {

// The outcome of a call: its results, and its arguments afterwards.
struct Outcome {
  std::vector<HostTensor> tensors;
  std::vector<std::string> plain;  // results that are no tensors
  std::string error;

  void keep(const Value& v);
};

// Makes the call with the random numbers of a fixed seed.
Outcome outcome_of(OperatorHandle op, Arguments in);

// Why they differ; "" if they do not.
std::string difference(const Outcome& expected, const Outcome& actual,
                       Tolerance tolerance);

}  // namespace sy::tools
