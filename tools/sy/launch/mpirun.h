#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/sy/launch/hosts.h"

// The launcher of MPI, which starts the processes on all hosts.

namespace sy::tools {

struct Mpirun {
  std::string path;
  int major = 0;
  std::string version;  // "4.1.4"
};

// SWITCHYARD_MPIRUN, else mpirun of PATH. Throws Error, which names the
// package, if there is none, or it is not Open MPI's.
Mpirun find_mpirun();
// Throws Error, which says where it comes from, if mpirun is too old to let the
// others go on when a rank dies.
void check_survival(const Mpirun& mpirun);

struct MpirunJob {
  int ranks = 1;
  std::vector<LaunchHost> hosts;  // none: this machine
  bool survive = false;
  // Variables that the processes get on other hosts too.
  std::vector<std::string> variables;
  std::vector<std::string> command;
};

// The command to run, the program first.
std::vector<std::string> mpirun_command(const Mpirun& mpirun,
                                        const MpirunJob& job, bool is_root);

// mpirun as it runs. Ends with this process, however that ends.
class MpirunProcess {
 public:
  // Throws Error if there can be no process.
  explicit MpirunProcess(const std::vector<std::string>& command);
  // Ends it.
  ~MpirunProcess();
  MpirunProcess(const MpirunProcess&) = delete;
  MpirunProcess& operator=(const MpirunProcess&) = delete;
  // Whether it has ended; does not wait.
  bool ended();
  // The exit status that a shell would give, once it has ended.
  int status() const { return status_; }
  // Waits for its end a few seconds, or not at all; then asks for it, and then
  // makes it.
  void finish(bool at_once);
  // The descriptors where it speaks of itself, without blocking; -1 at the end.
  int out() const { return ends_[0]; }
  int err() const { return ends_[1]; }
  // Passes on what it said.
  void pass_on();

 private:
  bool wait(int milliseconds);
  pid_t pid_ = -1;
  int status_ = 0;
  int ends_[2] = {-1, -1};
};

// The executable file that a shell would run for `name`; "" if there is none.
// `why` says what was wrong with it.
std::string find_program(const std::string& name, std::string& why);
// The same program by the real path of its folder. Open MPI takes what is above
// the folder for its own place, and /bin/mpirun, where /bin is a link to
// /usr/bin, would have none.
std::string with_real_folder(const std::string& program);

}  // namespace sy::tools
