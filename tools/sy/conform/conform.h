#pragma once

#include <string>
#include <vector>

#include "tools/sy/conform/worker.h"

namespace sy::tools {

struct ConformOptions {
  WorkerOptions worker;            // without `cases`: those that are installed
  std::string size = "full";       // without `cases`: smoke, full, soak
  bool supported = false;          // only what a plugin's YAML lists
  std::vector<std::string> globs;  // none: every overload
  // Files of example calls (read_examples) for operators of a device whose
  // signatures say too little.
  std::vector<std::string> examples;
  int jobs = 0;      // 0: one per core
  int timeout = 60;  // seconds for one case
  bool notes = false;
  std::string json;            // file for the report; - for standard output
  std::string junit, html;     // files for the report
  std::string failures;        // folder for what `sy replay` runs
  std::string must_pass;       // file with the overloads that must work
  std::string update_passing;  // file that working overloads are added to
};

// Runs cases in worker processes and reports. With a folder of cases it returns
// 0 if every overload selected works, or, with must_pass, every one that the
// list names. Without one it runs the installed cases and calls made from
// signatures, on the device of the plugin, and returns 0 if none fails.
int run_conform(const ConformOptions& options);

// The folder of the installed cases: cases/ and passing.txt, what Switchyard
// itself passes. SWITCHYARD_CONFORMANCE, else in this installation. Throws
// ValueError if there is none.
std::string installed_cases();

}  // namespace sy::tools
