#pragma once

#include <cstdint>
#include <string>

namespace sy::tools {

// What the environment variable kTokenVariable of a watcher says must come with
// its first words: only who was started by `sy launch` knows it.
inline constexpr const char* kTokenVariable = "SWITCHYARD_LAUNCH_TOKEN";

struct LaunchRankOptions {
  std::string addresses;  // of `sy launch`, with commas between them
  uint16_t port = 0;
};

// What mpirun starts as each rank of `sy launch`: asks it for the program, runs
// that in a process group of its own, sends on what it writes, and says how it
// ended. Ends the program at once if `sy launch` is gone, and when mpirun asks
// for it. Returns when `sy launch` has nothing more for it, so that mpirun does
// not end the other ranks before that. Throws Error if it cannot begin.
int run_launch_rank(const LaunchRankOptions& options);

}  // namespace sy::tools
