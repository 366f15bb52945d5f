#pragma once

#include <string>
#include <vector>

#include "tools/sy/worker.h"

namespace sy::tools {

struct ConformOptions {
  WorkerOptions worker;
  std::vector<std::string> globs;  // none: every overload
  int jobs = 0;                    // 0: one per core
  int timeout = 60;                // seconds for one case
  bool notes = false;
  std::string json;            // file for the report; - for standard output
  std::string must_pass;       // file with the overloads that must work
  std::string update_passing;  // file that working overloads are added to
};

// Replays recorded cases in worker processes and reports. 0 if every overload
// selected works, or, with must_pass, every one that the list names.
int run_conform(const ConformOptions& options);

}  // namespace sy::tools
