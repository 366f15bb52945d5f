#include "backends/cpu/jit/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::cpu::jit {

namespace {

// Opens a file to append to it, in a folder where everybody may put files. The
// file must be this user's alone, and no link; nullptr for others.
std::FILE* open_own(const char* path) {
  const int fd =
      open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  struct stat info {};
  const bool own = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                   info.st_uid == geteuid() && info.st_nlink == 1;
  std::FILE* const f = own ? fdopen(fd, "a") : nullptr;
  if (f == nullptr) close(fd);
  return f;
}

}  // namespace

void write_perf_map(const Kernel& kernel, const program::Program& program) {
  const char* const on = environment("SWITCHYARD_JIT_PERF");
  if (on == nullptr || std::strcmp(on, "1") != 0) return;
  const std::string path = str(P_tmpdir "/perf-{}.map", getpid());
  std::FILE* const f = open_own(path.c_str());
  if (f == nullptr) return;
  std::string name;
  for (int i = 0; i < program.n_steps && i < 12; ++i) {
    const auto op = static_cast<int>(program.steps[i].op);
    name += str("{}{}", i == 0 ? "" : ",", lang::kPrims[op].name);
  }
  std::fprintf(f, "%llx %zx sy-jit:%s\n",
               reinterpret_cast<unsigned long long>(kernel.memory()),
               kernel.bytes(), name.c_str());
  std::fclose(f);
}

}  // namespace sy::cpu::jit
