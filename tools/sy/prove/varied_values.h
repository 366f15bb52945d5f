#pragma once

#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"
#include "tools/sy/prove/schema_texts.h"

namespace sy::tools {

struct OtherValue {
  std::string id;  // "keepdim = True"
  std::vector<Value> args;
};

// Calls like `args` in which one argument that is no tensor has another value,
// or two have: numbers of both signs, 0, both truth values, None, and what the
// hints name. Only those that the operator takes; none with two beyond 200
// calls.
std::vector<OtherValue> other_values(OperatorHandle op,
                                     const std::vector<Value>& args,
                                     const Hints& hints);

}  // namespace sy::tools
