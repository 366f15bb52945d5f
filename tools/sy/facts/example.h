#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/sy/facts/text.h"

namespace sy::tools {

// A call of an operator with small, readable values, and what it gave.
struct FactsExample {
  FactsCall call;
  std::string text;    // the call in C++
  std::string output;  // what printing the result prints
  // How good it is to read, 0 the best: all numbers are finite, they are not
  // all the same, not those of an argument, and the output is short.
  int faults = 0;
};

// An example made of the words of the operator's example (calls/words.h).
// Values are tried until the result says something. nullopt if no call
// succeeds.
std::optional<FactsExample> example_of(OperatorHandle op,
                                       const std::string& words);

// Calls the operator with copies of the arguments.
std::vector<Value> call_operator(OperatorHandle op, const FactsCall& call);

}  // namespace sy::tools
