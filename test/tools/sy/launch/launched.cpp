#include "test/tools/sy/launch/launched.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace sy::tools::test {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) throw std::runtime_error(std::string("no ") + name);
  return text;
}

std::string scratch(const std::string& name) {
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("launch" + std::to_string(getpid()));
  fs::create_directories(folder);
  return (folder / name).string();
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> out = lines(text);
  std::sort(out.begin(), out.end());
  return out;
}

Launched::Launched(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& variables)
    : out_(scratch("out")), err_(scratch("err")) {
  const std::string sy = variable("SY");
  std::vector<const char*> argv{sy.c_str(), "launch"};
  for (const std::string& a : arguments) argv.push_back(a.c_str());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  // Ranks of this program are no tests that the one who runs tests knows.
  unsetenv("TEST_PREMATURE_EXIT_FILE");
  for (const std::string& v : variables) {
    const size_t equals = v.find('=');
    setenv(v.substr(0, equals).c_str(), v.substr(equals + 1).c_str(), 1);
  }
  if (std::freopen("/dev/null", "r", stdin) == nullptr ||
      std::freopen(out_.c_str(), "w", stdout) == nullptr ||
      std::freopen(err_.c_str(), "w", stderr) == nullptr) {
    _exit(126);
  }
  execv(argv[0], const_cast<char* const*>(argv.data()));
  _exit(125);
}

Ran Launched::wait() const {
  int status = 0;
  for (int i = 0; waitpid(pid_, &status, WNOHANG) == 0; ++i) {
    if (i == 3000) {  // it hangs: let the test fail
      kill(pid_, SIGTERM);
      waitpid(pid_, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
          contents(out_), contents(err_)};
}

Ran launch(const std::vector<std::string>& arguments,
           const std::vector<std::string>& variables) {
  return Launched(arguments, variables).wait();
}

std::vector<std::string> shell(const std::string& n, const std::string& text) {
  return {"-n", n, "sh", "-c", "r=$OMPI_COMM_WORLD_RANK; " + text};
}

std::vector<std::string> this_test(const std::string& n,
                                   const std::string& name) {
  return {"-n", n, fs::read_symlink("/proc/self/exe").string(),
          "--gtest_also_run_disabled_tests",
          "--gtest_filter=LaunchedRank.DISABLED_" + name};
}

int own_rank() { return std::stoi(variable("OMPI_COMM_WORLD_RANK")); }

std::string own_secret() {
  return contents(variable("SWITCHYARD_STORE_SECRET_FILE"));
}

std::unique_ptr<distributed::TcpStore> own_store(const std::string& secret) {
  const std::string at = variable("SWITCHYARD_STORE");
  const size_t colon = at.rfind(':');
  return std::make_unique<distributed::TcpStore>(
      at.substr(0, colon),
      static_cast<uint16_t>(std::stoi(at.substr(colon + 1))),
      std::chrono::seconds(30), secret);
}

}  // namespace sy::tools::test
