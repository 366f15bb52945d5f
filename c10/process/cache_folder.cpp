#include "c10/process/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "c10/process/environment.h"

namespace sy {

namespace {

constexpr char kFresh[] = "fresh-";
constexpr time_t kHour = 3600;

bool others_could_write(const struct stat& s) {
  const bool trusted = s.st_uid == geteuid() || s.st_uid == 0;
  return !trusted || (s.st_mode & 022) != 0;
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return fd_ >= 0; }

  bool read_all(size_t most, std::string* text) const {
    struct stat s;
    if (fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode) || others_could_write(s) ||
        static_cast<size_t>(s.st_size) > most) {
      return false;
    }
    text->resize(static_cast<size_t>(s.st_size));
    size_t at = 0;
    while (at < text->size()) {
      const ssize_t n = ::read(fd_, text->data() + at, text->size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += static_cast<size_t>(n);
    }
    // Notes the use for trim(), where the system keeps no such times.
    if (s.st_mtime + kHour < std::time(nullptr)) futimens(fd_, nullptr);
    return true;
  }
  bool write_all(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::write(fd_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      text.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

 private:
  int fd_;
};

void make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0700);
    if (at == std::string::npos) return;
  }
}

std::string why_unusable(const std::string& path) {
  struct stat s;
  if (path.empty()) return "none is set";
  if (stat(path.c_str(), &s) != 0) return path + ": " + std::strerror(errno);
  if (!S_ISDIR(s.st_mode)) return path + " is no folder";
  if (others_could_write(s)) {
    return path + " could be written by others (chmod go-w it)";
  }
  return "";
}

}  // namespace

CacheFolder::CacheFolder(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) make_folders(path_);
  why_off_ = why_unusable(path_);
}

std::string CacheFolder::default_path(const char* variable,
                                      const std::string& name) {
  if (const char* const own = environment(variable)) return own;
  const char* const cache = environment("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/switchyard/" + name;
  }
  const char* const home = environment("HOME");
  if (home == nullptr || *home == '\0') return "";
  return std::string(home) + "/.cache/switchyard/" + name;
}

std::string CacheFolder::file_of(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

CacheFolder::Found CacheFolder::read(const std::string& name, size_t most,
                                     std::string* text) const {
  if (!why_off_.empty()) return Found::kNone;
  const File file(open(file_of(name).c_str(),
                       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return Found::kNone;
  return file.read_all(most, text) ? Found::kRead : Found::kDamaged;
}

bool CacheFolder::write(const std::string& name, std::string_view head,
                        std::string_view bytes) const {
  if (!why_off_.empty()) {
    errno = EACCES;
    return false;
  }
  std::string fresh = file_of(kFresh) + "XXXXXX";
  const File file(mkostemp(fresh.data(), O_CLOEXEC));
  if (!file.is_open()) return false;
  if (file.write_all(head) && file.write_all(bytes) &&
      rename(fresh.c_str(), file_of(name).c_str()) == 0) {
    return true;
  }
  const int error = errno;
  unlink(fresh.c_str());
  errno = error;
  return false;
}

void CacheFolder::remove(const std::string& name) const {
  if (why_off_.empty()) unlink(file_of(name).c_str());
}

void CacheFolder::trim(uint64_t most,
                       bool (*is_own)(std::string_view name)) const {
  struct Entry {
    std::string path;
    time_t used;
    uint64_t bytes;
  };
  if (!why_off_.empty()) return;
  DIR* const folder = opendir(path_.c_str());
  if (folder == nullptr) return;
  const time_t now = std::time(nullptr);
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  while (const dirent* const d = readdir(folder)) {
    const std::string_view name = d->d_name;
    const bool is_fresh = name.starts_with(kFresh);
    if (!is_fresh && !is_own(name)) continue;
    std::string path = file_of(name);
    struct stat s;
    if (lstat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    if (is_fresh) {
      // Its process ended too early.
      if (s.st_mtime + kHour < now) unlink(path.c_str());
      continue;
    }
    // Counts in blocks of the disk.
    const uint64_t size = (static_cast<uint64_t>(s.st_size) / 4096 + 1) * 4096;
    bytes += size;
    entries.push_back({std::move(path), s.st_mtime, size});
  }
  closedir(folder);
  if (bytes <= most) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& x, const Entry& y) { return x.used < y.used; });
  for (const Entry& e : entries) {
    if (bytes <= most / 4 * 3) return;
    if (unlink(e.path.c_str()) == 0) bytes -= e.bytes;
  }
}

}  // namespace sy
