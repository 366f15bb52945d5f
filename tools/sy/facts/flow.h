#pragma once

#include <string>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

// The elements of the arguments that each element of the result is made of, for
// operators whose schemas do not say so: of a view by its strides
// (view_flow.h), else found by changing one element at a time. The JSON is
// described in site/facts.py. null if there is nothing to see: results of every
// element, element by element, of none, or too large. `words` as in
// calls/words.h.
Json flow_of(OperatorHandle op, const std::string& words);

}  // namespace sy::tools
