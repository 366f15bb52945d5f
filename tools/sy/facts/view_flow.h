#pragma once

#include <string>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

// The flow of a view, by the sizes, strides and offsets of a call: each element
// of the result lies where one of the first tensor does. The JSON is that of
// flow_of (flow.h). null if the result is not one tensor on the memory of the
// first one, shows what that one shows, or is too large for a picture. `words`
// as in calls/words.h; without any, other arguments are tried until a call
// shows something.
Json view_flow_of(OperatorHandle op, const std::string& words);

}  // namespace sy::tools
