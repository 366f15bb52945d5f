#pragma once

#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"

// Commands that say what there is. Each prints text, or JSON if asked, and
// returns the exit status.

namespace sy::tools {

// The overload of this name, or all overloads of a name without one. Throws
// NotImplementedError if there is none.
std::vector<OperatorHandle> overloads(const std::string& name);

struct OperatorQuery {
  std::string glob;                // "" for all
  std::vector<std::string> words;  // all in the name or the description
};
// The operators that fit, one signature a line; with words, what each does.
int list_operators(const OperatorQuery& query, bool json);
// The name of each, without `aten::`, for completion.
int print_operator_names();
// Signature, kernels and where calls go, of one overload, or of every overload
// of a name without one.
int explain_operator(const std::string& name, bool json);
// How the lazy device records it. Loads the device.
int explain_recording(const std::string& name, bool json);
// The compiled form of a call of it, with its times. `words`: its arguments, as
// of `sy prove --args`; float64 becomes float32. Tensors that are left out have
// a million elements.
int explain_jit(const std::string& name, const std::string& words, bool json);
int print_version(bool json);
// Why a plugin does or does not load. Tries it in a child process, as its code
// may do what no process survives: to be called before there are threads.
int examine_library(const std::string& path, bool json);

}  // namespace sy::tools
