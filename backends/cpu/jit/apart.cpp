#include "backends/cpu/jit/apart.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "c10/process/error.h"
#include "c10/process/fork.h"

namespace sy::cpu::jit {

namespace {

constexpr unsigned kMostSeconds = 60;

// The header that the child writes first; the text follows, an image or a
// reason.
struct Answer {
  uint64_t bytes = 0;
  bool compiled = false;
};

void write_all(int to, const void* data, size_t n) {
  const char* at = static_cast<const char*>(data);
  while (n > 0) {
    const ssize_t written = write(to, at, n);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += written;
    n -= static_cast<size_t>(written);
  }
}

std::string read_all(int from) {
  std::string text;
  char buffer[16 << 10];
  for (;;) {
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

[[noreturn]] void run_child(const CompilerApi& compiler,
                            const std::string& request, int to) {
  for (const int s : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    signal(s, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(kMostSeconds);
  std::string image, why;
  Answer answer;
  answer.compiled = compiler.compile(request, &image, &why);
  const std::string& text = answer.compiled ? image : why;
  answer.bytes = text.size();
  write_all(to, &answer, sizeof answer);
  write_all(to, text.data(), text.size());
  _exit(0);
}

std::string end_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return "";  // another part of the program has waited
  }
  if (WIFSIGNALED(status)) {
    return str(": {}", strsignal(WTERMSIG(status)));
  }
  return str(" with status {}", WEXITSTATUS(status));
}

}  // namespace

Apart compile_apart(const CompilerApi& compiler, const std::string& request,
                    std::string* image, std::string* why) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    *why = "no pipe to a process of its own";
    return Apart::kDied;
  }
  const pid_t child = [] {
    const QuickFork quick;  // others may wait for what is compiled
    return fork();
  }();
  if (child == 0) {
    close(ends[0]);
    run_child(compiler, request, ends[1]);
  }
  close(ends[1]);
  const std::string text = child < 0 ? "" : read_all(ends[0]);
  close(ends[0]);
  if (child < 0) {
    *why = "no process of its own";
    return Apart::kDied;
  }
  const std::string end = end_of(child);
  Answer answer;
  if (text.size() >= sizeof answer) {
    std::memcpy(&answer, text.data(), sizeof answer);
  }
  if (text.size() != sizeof answer + answer.bytes) {
    *why = "the compiler's process ended" + end;
    return Apart::kDied;
  }
  (answer.compiled ? *image : *why) = text.substr(sizeof answer);
  return answer.compiled ? Apart::kCompiled : Apart::kRefused;
}

}  // namespace sy::cpu::jit
