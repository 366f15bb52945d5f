#pragma once

#include <string>
#include <vector>

#include "tools/sy/launch/mpirun.h"
#include "tools/sy/launch/wire.h"

namespace sy::distributed {
class TcpStoreServer;
}

namespace sy::tools {

struct LaunchJobSettings {
  std::string token;  // which watchers must know
  bool labels = true;
  bool survive = false;
  std::vector<RankOrders> orders;  // of each rank
};

// The ranks of one `sy launch`, from their start to their end: shows what they
// write, tells the store who is gone, ends the others when one fails, and all
// when this process gets SIGINT, SIGTERM or SIGHUP. A rank that fails leaves
// the others 2 s for errors of their own; then SIGTERM, then, 2 s later,
// SIGKILL.
//
// Blocks these signals, which other threads must have blocked too. Returns the
// exit code: 0 if all ranks gave 0, else that of the first that failed. What
// happened is added to `summary`, a line for people, or none if all is well.
int run_launch_job(const LaunchJobSettings& settings, const Listener& listener,
                   MpirunProcess& mpirun, distributed::TcpStoreServer& store,
                   std::string& summary);

// The signals for a signalfd, to be blocked before there are threads.
sigset_t launch_signals();

}  // namespace sy::tools
