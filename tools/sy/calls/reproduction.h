#pragma once

#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/cases/arguments.h"

namespace sy::tools {

// A C++ program that makes one call on the CPU and on a device and prints both
// results: needs the SDK and the plugins, nothing else. `about` becomes its
// first comment.
struct Reproduction {
  OperatorHandle op;
  std::string device;
  std::vector<std::string> plugins;
  std::string about;
};
std::string to_cpp(const Reproduction& r, const Arguments& arguments);

}  // namespace sy::tools
