#pragma once

#include <string>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

// The results of the operator for numbers, one by one, with its derivative and
// for several values of another argument: {"axis": "self", "lines": [{"label":
// "beta=2", "x": […], "y": […], "dy": […]}]}. Values that are not finite are
// null. null if the operator is none that a curve shows. `words` as in
// calls/words.h.
Json curves_of(OperatorHandle op, const std::string& words);

}  // namespace sy::tools
