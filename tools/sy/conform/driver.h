#pragma once

#include <string>
#include <vector>

#include "tools/sy/conform/conform.h"
#include "tools/sy/conform/report.h"

namespace sy::tools {

// Trials of one overload.
struct Job {
  std::string name;
  // Not empty: calls made of the signature. On the CPU the size of tensors,
  // "2x3"; on a device their dtypes: "claimed", "soak" (the same,
  // and each call in each) or "all".
  std::string tensors = {};
  std::string dtype = {};  // not empty: recorded ones, recast
  // The words of its example (see calls/words.h), for calls on a device where
  // the signature says too little.
  std::string words = {};
  // Not empty: why the operator is not called, and nothing is run.
  std::string skipped = {};
};

// Why no call is made of a signature.
inline constexpr char kSaysTooLittle[] = "the signature says too little";

// Has workers run the trials; jobs that are skipped are only counted. A case
// that ends its worker, or takes longer than the time-out, fails; another
// worker goes on behind it. Throws Error if nothing can be run.
Report run_jobs(const ConformOptions& options, const std::vector<Job>& jobs);

}  // namespace sy::tools
