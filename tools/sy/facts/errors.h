#pragma once

#include "tools/sy/facts/example.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

// Calls like the example's with one argument that is wrong, at most three:
// [{"call": C++, "type": "TypeError", "text": the first line}].
Json errors_of(OperatorHandle op, const FactsExample& example);

}  // namespace sy::tools
