#include "frontend/io/format/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sy::io {

namespace {

constexpr uint64_t kLargestWrite = uint64_t{1} << 30;
constexpr int kAttempts = 100;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The target of a symbolic link; other paths as they are.
std::string resolved(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string out = real;
  std::free(real);
  return out;
}

// Gives a new file the owner and the rights of the one that it replaces. The
// group gets no rights if it cannot be the same.
void take_over_rights(int fd, const struct stat& old) {
  struct stat own {};
  mode_t mode = old.st_mode & 0777;
  if (::fstat(fd, &own) != 0) return;
  const bool moved = (own.st_uid == old.st_uid && own.st_gid == old.st_gid) ||
                     ::fchown(fd, old.st_uid, old.st_gid) == 0 ||
                     ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) == 0;
  if (!moved && own.st_gid != old.st_gid) mode &= ~mode_t{070};
  (void)::fchmod(fd, mode);
}

}  // namespace

Output::~Output() = default;

OutputFile::OutputFile(std::string_view op, const std::string& path)
    : op_(op), path_(path) {
  const FileView file{op_, path_};
  if (path.find('\0') != path.npos) {
    FileView{op_, in_quotes(path)}.fail("expected a path without zero bytes");
  }
  struct stat info {};
  const bool replaces = ::stat(path.c_str(), &info) == 0;
  if (replaces) {
    if (!S_ISREG(info.st_mode)) {
      file.fail("expected a regular file, or none, to write to");
    }
    path_ = resolved(path);
  }
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; fd_ < 0; ++attempt) {
    temporary_ = str("{}.{}.{}.tmp", path_, static_cast<int64_t>(::getpid()),
                     counter.fetch_add(1));
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                 replaces ? 0600 : 0666);
    if (fd_ < 0 && (errno != EEXIST || attempt == kAttempts)) {
      fail("cannot create");
    }
  }
  if (replaces) take_over_rights(fd_, info);
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void OutputFile::write(const void* data, uint64_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd_, at, std::min(size, kLargestWrite));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write");
    at += n;
    size -= static_cast<uint64_t>(n);
    size_ += static_cast<uint64_t>(n);
  }
}

void OutputFile::commit() {
  if (::fsync(fd_) != 0) fail("cannot write");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot rename");
  ::close(fd_);
  fd_ = -1;
  // The new name is on the disk once its folder is. Some file systems cannot
  // do this and need not.
  const int folder =
      ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void OutputFile::fail(const char* what) const {
  FileView{op_, path_}.fail("{}: {}", what, std::strerror(errno));
}

}  // namespace sy::io
