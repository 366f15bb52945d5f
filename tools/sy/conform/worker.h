#pragma once

#include <string>
#include <vector>

namespace sy::tools {

struct WorkerOptions {
  std::string cases;   // the folder
  std::string device;  // "" for the plugin's, else the CPU
  std::vector<std::string> plugins;
  bool gradients = true;
  std::string trials = "replay";  // see TrialKind
  bool few = false;               // some trials of each overload, not all
};

// The other side of `sy conform`: makes the trials of the overloads that it is
// asked for until its input ends. One JSON object a line. Requests:
//   {"name": "add.Tensor", "first": 0}    from that case on
//   {"name": …, "first": 0, "tensors": "2x3", "words": …}
//                                         calls made of the signature, see Job;
//                                         "words" may be missing
//   {"name": …, "first": 0, "dtype": "float32"}
//                                         recorded ones, recast
// Answers, per trial and at the end:
//   {"begin": 0, "id": …}
//   {"end": 0, "id": …, "why": "", "non_empty": true, "note": "", "way": "",
//    "skipped": ""}                       as in CaseResult
//   {"done": 8, "missing": false}         number of trials; with "skipped" if
//                                         there are none, and why
//   {"bad": …}                            the files cannot be read
//   {"fatal": …}                          nothing can be run: a plugin …
int run_worker(const WorkerOptions& options);

}  // namespace sy::tools
