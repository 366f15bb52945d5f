#include "frontend/distributed/checkpoint/open_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "c10/process/error.h"
#include "frontend/io/file_error.h"

namespace sy::distributed {

namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
constexpr int kMostDepth = 64;

[[noreturn]] void fail(const char* op, const std::string& path,
                       const char* what) {
  const int error = errno;
  throw FileError(str("[{}] {}: {}: {}", op, path, what, std::strerror(error)));
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

void make_with_parents(const char* op, const std::string& path) {
  for (size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST &&
        !is_folder(part)) {
      fail(op, part, "cannot make the folder");
    }
  }
}

// False, with errno, if it cannot be listed.
bool list(int folder, std::vector<std::string>* names) {
  const int fd = ::openat(folder, ".", kFolder);  // with a position of its own
  DIR* const dir = fd < 0 ? nullptr : ::fdopendir(fd);
  if (dir == nullptr) {
    if (fd >= 0) ::close(fd);
    return false;
  }
  while (const dirent* const entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names->emplace_back(name);
  }
  ::closedir(dir);
  return true;
}

// False, with errno, if something cannot be removed.
bool remove_in(int folder, const char* name, int depth) {
  struct stat info {};
  if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT;
  }
  if (!S_ISDIR(info.st_mode)) {
    return ::unlinkat(folder, name, 0) == 0 || errno == ENOENT;
  }
  if (depth == kMostDepth) {
    errno = ELOOP;
    return false;
  }
  // It may be a link by now: then it is not opened.
  const int fd = ::openat(folder, name, kFolder | O_NOFOLLOW);
  if (fd < 0) return errno == ENOENT;
  std::vector<std::string> names;
  bool all = list(fd, &names);
  for (size_t i = 0; all && i < names.size(); ++i) {
    all = remove_in(fd, names[i].c_str(), depth + 1);
  }
  const int error = errno;
  ::close(fd);
  errno = error;
  return all &&
         (::unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT);
}

}  // namespace

OpenFolder::OpenFolder(const char* op, const std::string& path)
    : op_(op), path_(path) {
  make_with_parents(op, path);
  fd_ = ::open(path.c_str(), kFolder);
  if (fd_ < 0) fail(op, path, "cannot open the folder");
}

OpenFolder::~OpenFolder() { ::close(fd_); }

std::string OpenFolder::path_of(const std::string& name) const {
  return str("{}{}{}", path_, path_.ends_with('/') ? "" : "/", name);
}

std::vector<std::string> OpenFolder::names() const {
  std::vector<std::string> names;
  if (!list(fd_, &names)) fail(op_, path_, "cannot list");
  return names;
}

bool OpenFolder::lock() const {
  return ::flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void OpenFolder::make_folder(const std::string& name) const {
  if (::mkdirat(fd_, name.c_str(), 0777) != 0) {
    fail(op_, path_of(name), "cannot make the folder");
  }
}

void OpenFolder::rename(const std::string& from, const std::string& to) const {
  if (::renameat(fd_, from.c_str(), fd_, to.c_str()) != 0) {
    fail(op_, path_of(to), "cannot rename");
  }
}

void OpenFolder::remove(const std::string& name) const {
  if (!remove_in(fd_, name.c_str(), 0)) {
    fail(op_, path_of(name), "cannot remove");
  }
}

void OpenFolder::sync() const { ::fsync(fd_); }

void OpenFolder::sync(const std::string& name) const {
  const int fd = ::openat(fd_, name.c_str(), kFolder | O_NOFOLLOW);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace sy::distributed
