#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace sy::distributed {

using Variables = std::map<std::string, std::string>;

// A process of this program that runs a test StartRank.DISABLED_NAME.
class Process {
 public:
  Process(const std::string& name, const Variables& variables) {
    static int made = 0;
    err_ = std::filesystem::path(::testing::TempDir()) /
           ("start" + std::to_string(getpid()) + "_" + std::to_string(++made));
    const std::string self =
        std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string filter = "--gtest_filter=StartRank.DISABLED_" + name;
    pid_ = fork();
    if (pid_ != 0) return;
    for (const auto& [variable, value] : variables) {
      setenv(variable.c_str(), value.c_str(), 1);
    }
    const int file = open(err_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(file, 1);
    dup2(file, 2);
    execl(self.c_str(), self.c_str(), "--gtest_also_run_disabled_tests",
          filter.c_str(), nullptr);
    _exit(125);
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    std::filesystem::remove(err_);
  }
  Process(Process&& o) noexcept
      : pid_(std::exchange(o.pid_, -1)), err_(std::move(o.err_)) {}
  Process& operator=(Process&&) = delete;

  // As a shell says it; 199 if it has not ended within 20 seconds.
  int wait() {
    int status = 0;
    for (int i = 0; i < 2000; ++i) {
      if (waitpid(pid_, &status, WNOHANG) != 0) {
        pid_ = -1;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                   : WEXITSTATUS(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return 199;
  }
  std::string said() const {
    std::ifstream in(err_);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

 private:
  pid_t pid_;
  std::filesystem::path err_;
};

}  // namespace sy::distributed
