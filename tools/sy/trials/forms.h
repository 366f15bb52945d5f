#pragma once

#include <vector>

#include "c10/dispatch/dispatcher.h"

namespace sy::tools {

// The in-place and out= forms of the entry that the functional `op` is of.
std::vector<OperatorHandle> other_forms(OperatorHandle op);

}  // namespace sy::tools
