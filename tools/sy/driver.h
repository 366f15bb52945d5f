#pragma once

#include <string>
#include <vector>

#include "tools/sy/conform.h"
#include "tools/sy/report.h"

namespace sy::tools {

// Has workers replay the cases of the overloads named. What ends a worker, or
// takes longer than the time-out, is a failure of the case it was at; another
// worker goes on behind it. Throws Error if nothing can be run.
Report replay_cases(const ConformOptions& options,
                    const std::vector<std::string>& names);

}  // namespace sy::tools
