#pragma once

#include <string>
#include <vector>

namespace sy::tools {

struct FuzzWorkerOptions {
  std::string glob = "*";
  std::vector<std::string> plugins, schemas, examples;
  std::string device;
  int64_t memory = int64_t{256} << 20;  // what a call may take, in bytes
};

// The other side of `sy fuzz`: draws calls and makes them, until its input
// ends. One JSON object a line. Requests:
//   {"seed": 1, "first": 0, "end": 500}  draw and make these calls
//   {"draw": 7, "seed": 1}               tell the call, without making it
//   {"call": {…}}                        make this one
// Answers:
//   {"at": 3}                            the call that begins
//   {"bad": 3, "kind": …, "why": …}      one that gave a wrong answer
//   {"done": 500, "refused": 310, "leaked": false}
//                                        of the first kind of request;
//                                        "leaked" says LeakSanitizer
//   {"call": {…}}                        of the second
//   {"kind": "", "why": "", "refused": false}
//                                        of the third, see Verdict
//   {"fatal": …}                         nothing can be run
int run_fuzz_worker(const FuzzWorkerOptions& options);

// Makes the call of a file that `sy fuzz` wrote, in this process: 0 if nothing
// is wrong, 1 if something is. Throws Error.
int replay_call(const std::string& path);

}  // namespace sy::tools
