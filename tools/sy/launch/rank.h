#pragma once

#include <cstdint>
#include <string>

namespace sy::tools {

// The environment variable with a watcher's token, which must come with its
// first words: only a process that `sy launch` started knows it.
inline constexpr const char* kTokenVariable = "SWITCHYARD_LAUNCH_TOKEN";

struct LaunchRankOptions {
  std::string addresses;  // of `sy launch`, with commas between them
  uint16_t port = 0;
};

// Runs as each rank that mpirun starts for `sy launch`: asks it for the
// program, runs that in a process group of its own, sends on what it writes,
// and says how it ended. Ends the program at once if `sy launch` is gone, and
// when mpirun asks for it. Returns when `sy launch` has nothing more for it, so
// that mpirun does not end the other ranks before that. Throws Error if it
// cannot begin.
int run_launch_rank(const LaunchRankOptions& options);

}  // namespace sy::tools
