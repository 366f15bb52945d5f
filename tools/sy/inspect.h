#pragma once

#include <string>

// Commands that say what there is. Each prints text, or JSON if asked, and
// returns the exit status.

namespace sy::tools {

// The operators that fit the pattern ("" for all), one signature a line.
int list_operators(const std::string& glob, bool json);
// Signature, kernels and where calls go, of one overload, or of every overload
// of a name without one.
int explain_operator(const std::string& name, bool json);
int print_version(bool json);
// Why a plugin does or does not load. Tries it in a child process, as its code
// may do what no process survives: to be called before there are threads.
int examine_library(const std::string& path, bool json);

}  // namespace sy::tools
