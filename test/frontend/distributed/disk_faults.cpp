#include "test/frontend/distributed/disk_faults.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

namespace sy::distributed {

namespace {

thread_local FaultKind kind = FaultKind::kNone;
thread_local int fault_at = 0, calls = 0;
thread_local bool armed = false;

// Whether this call is the one.
bool here() { return armed && calls++ == fault_at; }

template <class Call, class Half>
long faulty(Call&& call, Half&& half) {
  if (!here()) return call();
  switch (kind) {
    case FaultKind::kNone: return call();
    case FaultKind::kFail: errno = ENOSPC; return -1;
    case FaultKind::kDieHalfway: half(); _exit(kDied);
    case FaultKind::kDieBefore: _exit(kDied);
    case FaultKind::kDieAfter: call(); _exit(kDied);
  }
  return -1;
}

template <class Call>
int faulty(Call&& call) {
  return static_cast<int>(faulty(call, [] {}));
}

}  // namespace

void arm_fault(FaultKind k, int at) {
  kind = k;
  fault_at = at;
  calls = 0;
  armed = true;
}

int disarm_fault() {
  armed = false;
  return calls;
}

}  // namespace sy::distributed

using sy::distributed::faulty;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  const auto call = [&] {
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  };
  if ((flags & O_CREAT) == 0) return static_cast<int>(call());
  return faulty(call);
}

ssize_t write(int fd, const void* data, size_t size) {
  return faulty([&] { return syscall(SYS_write, fd, data, size); },
                [&] { syscall(SYS_write, fd, data, size / 2); });
}

int fsync(int fd) {
  return faulty([&] { return syscall(SYS_fsync, fd); });
}

int rename(const char* from, const char* to) noexcept {
  return faulty([&] { return syscall(SYS_rename, from, to); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  return faulty([&] { return syscall(SYS_mkdir, path, mode); });
}

int unlink(const char* path) noexcept {
  return faulty([&] { return syscall(SYS_unlink, path); });
}

int rmdir(const char* path) noexcept {
  return faulty([&] { return syscall(SYS_rmdir, path); });
}

int renameat(int from_in, const char* from, int to_in,
             const char* to) noexcept {
  return faulty(
      [&] { return syscall(SYS_renameat, from_in, from, to_in, to); });
}

int mkdirat(int in, const char* path, mode_t mode) noexcept {
  return faulty([&] { return syscall(SYS_mkdirat, in, path, mode); });
}

int unlinkat(int in, const char* path, int flags) noexcept {
  return faulty([&] { return syscall(SYS_unlinkat, in, path, flags); });
}

}  // extern "C"
