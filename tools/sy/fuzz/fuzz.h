#pragma once

#include <string>

#include "tools/sy/fuzz/worker.h"

namespace sy::tools {

struct FuzzOptions {
  FuzzWorkerOptions worker;
  uint64_t seed = 1;
  uint64_t calls = 20000;
  int seconds = 0;   // instead of a number of calls, if not 0
  int timeout = 10;  // seconds for one call
  int jobs = 0;
  std::string failures;  // the folder for what fails; "": none is written
};

// Has workers make calls drawn at random, and makes those that fail shorter. 0
// if none fails, else 1. Throws Error if nothing can be run.
int run_fuzz(FuzzOptions options);

}  // namespace sy::tools
