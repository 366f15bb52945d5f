#include "tools/sy/support/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "c10/process/error.h"

extern char** environ;

namespace sy::tools {

namespace {

void check(int error, const char* what) {
  SY_CHECK(error == 0, Error, "cannot start a worker: {}: {}", what,
           std::strerror(error));
}

class FileActions {
 public:
  FileActions() { check(posix_spawn_file_actions_init(&raw_), "actions"); }
  ~FileActions() { posix_spawn_file_actions_destroy(&raw_); }
  void dup(int from, int to) {
    check(posix_spawn_file_actions_adddup2(&raw_, from, to), "dup2");
  }
  const posix_spawn_file_actions_t* get() const { return &raw_; }

 private:
  posix_spawn_file_actions_t raw_;
};

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& arguments) {
  // A worker that died must not take this process along.
  ::signal(SIGPIPE, SIG_IGN);
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0) check(errno, "pipe");
  if (pipe2(answers, O_CLOEXEC) != 0) {
    const int error = errno;
    close(requests[0]);
    close(requests[1]);
    check(error, "pipe");
  }
  requests_ = requests[1];
  answers_ = answers[0];
  std::string program = "sy";
  std::vector<char*> argv{program.data()};
  for (const std::string& a : arguments) {
    argv.push_back(const_cast<char*>(a.c_str()));
  }
  argv.push_back(nullptr);
  FileActions actions;
  actions.dup(requests[0], kRequests);
  actions.dup(STDERR_FILENO, STDOUT_FILENO);
  actions.dup(answers[1], kAnswers);
  const int error = posix_spawn(&pid_, "/proc/self/exe", actions.get(), nullptr,
                                argv.data(), environ);
  close(requests[0]);
  close(answers[1]);
  if (error != 0) {
    close(requests_);
    close(answers_);
    check(error, "spawn");
  }
}

WorkerProcess::~WorkerProcess() {
  close(requests_);
  close(answers_);
  if (pid_ < 0) return;
  kill();
  how_it_ended();
}

bool WorkerProcess::send(const std::string& line) {
  const std::string text = line + "\n";
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(requests_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

std::vector<std::string> WorkerProcess::receive(bool& ended) {
  char buffer[65536];
  ssize_t n;
  do {
    n = read(answers_, buffer, sizeof buffer);
  } while (n < 0 && errno == EINTR);
  ended = n <= 0;
  if (n > 0) partial_.append(buffer, static_cast<size_t>(n));
  std::vector<std::string> lines;
  size_t begin = 0, end;
  while ((end = partial_.find('\n', begin)) != std::string::npos) {
    lines.push_back(partial_.substr(begin, end - begin));
    begin = end + 1;
  }
  partial_.erase(0, begin);
  return lines;
}

void WorkerProcess::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string WorkerProcess::how_it_ended() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return str("signal {} ({})", signal, strsignal(signal));
  }
  return str("exit status {}", WEXITSTATUS(status));
}

void begin_worker() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

bool answer(const Json& v) {
  const std::string line = dump(v) + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n =
        write(WorkerProcess::kAnswers, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

int share_cores(int jobs) {
  const auto cores =
      static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (jobs <= 0) jobs = cores;
  setenv("SWITCHYARD_NUM_THREADS",
         std::to_string(std::max(1, cores / jobs)).c_str(), 0);
  return jobs;
}

}  // namespace sy::tools
