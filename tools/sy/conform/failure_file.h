#pragma once

#include <string>
#include <vector>

#include "tools/sy/calls/claims.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

// One trial that failed, and all that it takes to run it again.
struct Failure {
  std::string op;  // "add.Tensor", or with its namespace
  std::string id;
  std::string why;
  std::string cases;    // folder of recorded cases; "": made of the signature
  std::string tensors;  // of those that are made: see Job
  std::string words;    // the same
  std::string dtype;    // of recorded ones that are recast
  std::string device;
  std::vector<std::string> plugins;
  bool gradients = true;
};

// The file for `sy replay`: holds the case, needs the plugins. Throws Error.
Json failure_json(const Failure& failure);
// The same as a C++ program (see calls/reproduction.h). Throws Error if there
// is no such operator or its arguments cannot be made. `claims` of the device,
// or nullptr.
std::string failure_cpp(const Failure& failure, const Claims* claims);

// Runs the trial of such a file again, in this process, and says what it finds:
// 0 if it passes, 1 if it fails. Throws Error.
int replay_trial(const std::string& path);

}  // namespace sy::tools
