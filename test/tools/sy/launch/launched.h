#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "frontend/distributed/store/tcp_store.h"

// `sy launch` as people run it: the variable SY names the program.

namespace sy::tools::test {

// Throws if it is not set.
std::string variable(const char* name);
// A path in a folder of this process.
std::string scratch(const std::string& name);
// "" if there is no such file.
std::string contents(const std::string& path);
std::vector<std::string> lines(const std::string& text);
std::vector<std::string> sorted_lines(const std::string& text);

struct Ran {
  int status;  // as a shell says it
  std::string out, err;
};

// A `sy launch` that runs. There is one at a time.
class Launched {
 public:
  // `variables`: "NAME=VALUE".
  explicit Launched(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& variables = {});
  pid_t pid() const { return pid_; }
  // Waits for its end, and makes it after half a minute.
  Ran wait() const;

 private:
  std::string out_, err_;
  pid_t pid_;
};

Ran launch(const std::vector<std::string>& arguments,
           const std::vector<std::string>& variables = {});

// Arguments that make n ranks of words of shell; $r is the rank there.
std::vector<std::string> shell(const std::string& n, const std::string& text);
// Arguments that make ranks of the test DISABLED_NAME of LaunchedRank in this
// program.
std::vector<std::string> this_test(const std::string& n,
                                   const std::string& name);

// ---- in a rank

int own_rank();
// The secret of the job.
std::string own_secret();
std::unique_ptr<distributed::TcpStore> own_store(
    const std::string& secret = own_secret());

}  // namespace sy::tools::test
