#pragma once

#include <string>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/calls/examples.h"
#include "tools/sy/support/json.h"

// Facts that running the operators tells, for the reference pages: an example
// with its output, wrong calls and their errors, curves, dtypes, dispatch. The
// JSON is described in site/facts.py.

namespace sy::tools {

struct FactsOptions {
  std::string glob;  // "" for all operators
  std::vector<std::string> plugins, schemas, examples;
  std::string out = "-";  // the file; - for stdout
};

// The facts of the overloads of one base name; the one that makes the best
// example speaks for all. `devices`: whose dtypes are asked for.
Json facts_of(const std::vector<OperatorHandle>& overloads,
              const ExampleWords& examples, const std::vector<Device>& devices);

// Writes the facts of the operators that fit, by processes of their own: an
// operator that crashes or hangs is left out, and named on stderr.
int run_facts(const FactsOptions& options);

}  // namespace sy::tools
