#include "frontend/distributed/checkpoint/checkpoint_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "c10/error.h"
#include "frontend/distributed/checkpoint/checkpoint_manifest.h"
#include "frontend/io/file_error.h"

namespace sy::distributed {

namespace {

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSaving = ".saving-", kRemoving = ".removing-";

[[noreturn]] void fail(const char* op, const std::string& path,
                       const char* what) {
  const int error = errno;
  throw FileError(str("[{}] {}: {}: {}", op, path, what, std::strerror(error)));
}

std::string in(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.ends_with('/')) path += '/';
  path += name;
  return path;
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

// The names in a folder, without "." and "..". Empty if there is none.
std::vector<std::string> names_in(const char* op, const std::string& folder) {
  std::vector<std::string> names;
  DIR* const dir = ::opendir(folder.c_str());
  if (dir == nullptr) {
    if (errno == ENOENT) return names;
    fail(op, folder, "cannot list");
  }
  while (const dirent* const entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(dir);
  return names;
}

// With the folders above it.
void make_folder(const char* op, const std::string& path) {
  for (size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST && !exists(part)) {
      fail(op, part, "cannot make the folder");
    }
  }
}

// Some file systems cannot do this and need not.
void sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

// A folder of files. It gets another name first, so that what is half removed
// is no checkpoint.
void remove_folder(const char* op, const std::string& path) {
  for (const std::string& name : names_in(op, path)) {
    const std::string file = in(path, name);
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
      fail(op, file, "cannot remove");
    }
  }
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) {
    fail(op, path, "cannot remove");
  }
}

}  // namespace

std::string checkpoint_path(const std::string& folder, int64_t number) {
  char name[64];
  std::snprintf(name, sizeof name, "checkpoint-%08lld",
                static_cast<long long>(number));
  return in(folder, name);
}

std::vector<int64_t> checkpoint_numbers(const char* op,
                                        const std::string& folder) {
  std::vector<int64_t> numbers;
  for (const std::string& name : names_in(op, folder)) {
    if (!name.starts_with(kPrefix)) continue;
    int64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [at, error] =
        std::from_chars(name.data() + kPrefix.size(), end, number);
    if (error != std::errc() || at != end || number <= 0) continue;
    const std::string path = checkpoint_path(folder, number);
    if (path == in(folder, name) && exists(in(path, kManifestName))) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string CheckpointFolder::hidden_path(const std::string& folder,
                                          const std::string& id) {
  std::string name(kSaving);
  name += id;
  return in(folder, name);
}

CheckpointFolder::CheckpointFolder(const char* op, const std::string& folder,
                                   const std::string& id)
    : op_(op), folder_(folder) {
  make_folder(op, folder);
  lock_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) fail(op, folder, "cannot open the folder");
  try {
    // File systems without locks say something else.
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw FileError(str(
          "[{}] {}: expected one program to save there, another does as well",
          op, folder));
    }
    for (const std::string& name : names_in(op, folder)) {
      if (name.starts_with(kSaving) || name.starts_with(kRemoving)) {
        remove_folder(op, in(folder, name));
      }
    }
    const std::vector<int64_t> there = checkpoint_numbers(op, folder);
    number_ = there.empty() ? 1 : there.back() + 1;
    const std::string path = hidden_path(folder, id);
    if (::mkdir(path.c_str(), 0777) != 0) {
      fail(op, path, "cannot make the folder");
    }
    hidden_ = path;
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

CheckpointFolder::~CheckpointFolder() {
  if (!hidden_.empty()) {
    try {
      remove_folder(op_, hidden_);
    } catch (const Error&) {
      // The next attempt removes it.
    }
  }
  ::close(lock_);
}

void CheckpointFolder::commit() {
  const std::string path = checkpoint_path(folder_, number_);
  sync_folder(hidden_);
  if (::rename(hidden_.c_str(), path.c_str()) != 0) {
    fail(op_, path, "cannot rename");
  }
  hidden_.clear();
  sync_folder(folder_);
}

void CheckpointFolder::remove_older(int64_t keep) const {
  std::vector<int64_t> there = checkpoint_numbers(op_, folder_);
  const auto count = static_cast<int64_t>(there.size());
  there.resize(static_cast<size_t>(std::max<int64_t>(count - keep, 0)));
  for (const int64_t number : there) {
    const std::string path = checkpoint_path(folder_, number);
    const std::string gone = in(folder_, str("{}{}", kRemoving, number));
    if (::rename(path.c_str(), gone.c_str()) != 0) {
      fail(op_, path, "cannot remove");
    }
    remove_folder(op_, gone);
  }
}

}  // namespace sy::distributed
