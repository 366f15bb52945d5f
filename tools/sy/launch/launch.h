#pragma once

#include <string>
#include <vector>

namespace sy::tools {

struct LaunchOptions {
  int ranks = 0;      // 0: one for each core
  std::string hosts;  // "a,b:4"; "": this machine
  int threads = 0;    // of each rank; 0: the cores, shared
  bool survive = false;
  bool no_labels = false;
  std::string trace;   // file of the timeline; "": none
  int timeout = 0;     // SWITCHYARD_DISTRIBUTED_TIMEOUT, seconds; 0: as it is
  std::string engine;  // SWITCHYARD_DISTRIBUTED_ENGINE; "": as it is
  std::vector<std::string> command;
};

// `sy launch`: runs a program as several ranks, by mpirun, and a store for
// them. Returns the exit code, see run_launch_job. Throws Error, or ValueError
// for options that cannot be, before anything has started.
int run_launch(const LaunchOptions& options);

}  // namespace sy::tools
