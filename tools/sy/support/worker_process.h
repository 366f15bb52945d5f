#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "tools/sy/support/json.h"

namespace sy::tools {

// This program again, in a process of its own, spoken to in lines. Spawned, not
// forked: no thread or lock of ours comes along. Killed when the object goes.
class WorkerProcess {
 public:
  // The descriptors where the child reads requests and writes answers. Its
  // standard output goes to standard error, whatever kernels print.
  static constexpr int kRequests = 0;
  static constexpr int kAnswers = 3;

  // `arguments` after the program's name. Throws Error.
  explicit WorkerProcess(const std::vector<std::string>& arguments);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  // False if the process does not read any more.
  bool send(const std::string& line);
  // Readable when there is an answer, or the process has ended.
  int answers() const { return answers_; }
  // The whole lines that can be read now; `ended` is set at the end.
  std::vector<std::string> receive(bool& ended);
  void kill();
  // Waits for the end. "signal 11 (Segmentation fault)", "exit status 1".
  std::string how_it_ended();

 private:
  pid_t pid_ = -1;
  int requests_ = -1, answers_ = -1;
  std::string partial_;
};

// Makes this process a worker: it ends with the process that spawned it, and
// leaves no core.
void begin_worker();
// Writes an answer, as one line. False if nobody reads any more.
bool answer(const Json& v);

// The number of workers that are asked for, one per core for 0. Their threads
// share the cores; what the user set stays.
int share_cores(int jobs);

}  // namespace sy::tools
