#pragma once

#include <string>

#include "c10/dispatcher.h"

namespace sy::tools {

// Whether a scan or a reduction that `op` is described as gives the same
// however its elements are brought together: a with b and c, or a and b with
// c. "" if it does, if it is neither, or if a single element does not stand for
// itself, so that this cannot be asked. `tried` is set if it was.
std::string associative_problem(OperatorHandle op, bool* tried);

}  // namespace sy::tools
