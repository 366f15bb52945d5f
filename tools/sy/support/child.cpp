#include "tools/sy/support/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "c10/process/error.h"

namespace sy::tools {

namespace {

// A file without a name, gone with its last user.
class Scratch {
 public:
  Scratch() : file_(std::tmpfile(), &std::fclose) {
    SY_CHECK(file_ != nullptr, Error, "no temporary file: {}",
             std::strerror(errno));
  }
  int fd() const { return fileno(file_.get()); }
  std::string text() const {
    std::string out;
    char buffer[4096];
    std::rewind(file_.get());
    while (const size_t n = std::fread(buffer, 1, sizeof buffer, file_.get())) {
      out.append(buffer, n);
    }
    return out;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace

ChildResult in_child(unsigned seconds,
                     const std::function<std::string()>& body) {
  const Scratch answer, said;
  std::fflush(nullptr);
  const pid_t child = fork();
  SY_CHECK(child >= 0, Error, "cannot fork: {}", std::strerror(errno));
  if (child == 0) {
    alarm(seconds);
    dup2(said.fd(), STDOUT_FILENO);
    dup2(said.fd(), STDERR_FILENO);
    const std::string text = body();
    const bool written = write(answer.fd(), text.data(), text.size()) ==
                         static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  ChildResult out;
  while (waitpid(child, &out.status, 0) < 0 && errno == EINTR) {
  }
  out.answer = answer.text();
  out.said = said.text();
  return out;
}

}  // namespace sy::tools
