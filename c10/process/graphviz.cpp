#include "c10/process/graphviz.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "c10/process/error.h"

extern char** environ;

namespace sy {

namespace {

// A file in memory that a program is given to read, or writes.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("dot", MFD_CLOEXEC)) {
    SY_CHECK(fd_ >= 0, Error, "[svg] no file can be made in memory");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  void write(std::string_view text) const {
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(fd_, text.data() + done, text.size() - done);
      SY_CHECK(n > 0, Error, "[svg] cannot write to a file in memory");
      done += static_cast<size_t>(n);
    }
    lseek(fd_, 0, SEEK_SET);
  }
  std::string read() const {
    lseek(fd_, 0, SEEK_SET);
    std::string text;
    char part[4096];
    ssize_t n = 0;
    while ((n = ::read(fd_, part, sizeof part)) > 0) {
      text.append(part, static_cast<size_t>(n));
    }
    return text;
  }

 private:
  int fd_;
};

}  // namespace

std::string svg_of_dot(std::string_view dot) {
  const MemoryFile in, out;
  in.write(dot);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.fd(), STDOUT_FILENO);
  char program[] = "dot", format[] = "-Tsvg";
  char* const arguments[] = {program, format, nullptr};
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, program, &files, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  SY_CHECK(error == 0, NotImplemented,
           "[svg] expected graphviz's program dot on PATH, found none: install "
           "Debian's package graphviz, or ask for a .dot file or dot()");
  int status = 0;
  waitpid(pid, &status, 0);
  SY_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, Error,
           "[svg] dot failed with status {}", status);
  return out.read();
}

}  // namespace sy
