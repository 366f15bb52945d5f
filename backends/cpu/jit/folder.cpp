#include "backends/cpu/jit/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace sy::cpu::jit {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMagic = 0x3145484341434a53;  // SJCACHE1
constexpr size_t kMostBytes = size_t{16} << 20;

struct Head {
  uint64_t magic = kMagic;
  uint64_t fingerprint = 0;
  uint64_t request = 0, image = 0;  // bytes
  uint64_t checksum = 0;            // of both
};

uint64_t hash_of(std::string_view text, uint64_t h) {
  for (const char c : text) {
    h = (h ^ static_cast<uint8_t>(c)) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return h;
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

  bool read_all(std::string* text) const {
    struct stat s;
    if (fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid() ||
        (s.st_mode & 022) != 0 || static_cast<size_t>(s.st_size) > kMostBytes) {
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

}  // namespace

Folder::Folder(std::string path, uint64_t fingerprint)
    : path_(std::move(path)), fingerprint_(fingerprint) {
  if (!path_.empty()) make_folders(path_);
}

std::string Folder::default_path() {
  if (const char* const own = std::getenv("SWITCHYARD_JIT_CACHE")) return own;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/switchyard/jit";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return std::string(home) + "/.cache/switchyard/jit";
}

bool Folder::usable(std::string* why) const {
  struct stat s;
  if (path_.empty()) {
    *why = "none is set";
  } else if (stat(path_.c_str(), &s) != 0) {
    *why = path_ + ": " + std::strerror(errno);
  } else if (!S_ISDIR(s.st_mode)) {
    *why = path_ + " is no folder";
  } else if (s.st_uid != geteuid() || (s.st_mode & 022) != 0) {
    *why = path_ + " could be written by others";
  } else {
    return true;
  }
  return false;
}

std::string Folder::file_of(std::string_view request) const {
  char name[40];
  std::snprintf(
      name, sizeof name, "/%016llx%016llx",
      static_cast<unsigned long long>(hash_of(request, fingerprint_)),
      static_cast<unsigned long long>(hash_of(request, ~fingerprint_ * 3)));
  return path_ + name;
}

bool Folder::read(std::string_view request, std::string* image) const {
  const File file(open(file_of(request).c_str(),
                       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::string text;
  if (!file.is_open() || !file.read_all(&text)) return false;
  Head head;
  if (text.size() < sizeof head) return false;
  std::memcpy(&head, text.data(), sizeof head);
  const std::string_view rest = std::string_view(text).substr(sizeof head);
  if (head.magic != kMagic || head.fingerprint != fingerprint_ ||
      head.request != request.size() || head.image > rest.size() ||
      rest.size() != head.request + head.image ||
      rest.substr(0, request.size()) != request ||
      hash_of(rest, kMagic) != head.checksum) {
    return false;
  }
  image->assign(rest.substr(request.size()));
  return true;
}

void Folder::write(std::string_view request, std::string_view image) const {
  std::string rest(request);
  rest += image;
  Head head;
  head.fingerprint = fingerprint_;
  head.request = request.size();
  head.image = image.size();
  head.checksum = hash_of(rest, kMagic);
  const std::string name = file_of(request);
  std::string fresh = name + ".XXXXXX";
  const File file(mkostemp(fresh.data(), O_CLOEXEC));
  if (!file.is_open()) return;
  const std::string_view bytes(reinterpret_cast<const char*>(&head),
                               sizeof head);
  if (!file.write_all(bytes) || !file.write_all(rest) ||
      rename(fresh.c_str(), name.c_str()) != 0) {
    unlink(fresh.c_str());
  }
}

void Folder::trim(uint64_t most) const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;  // another process trims too
    if (!at->is_regular_file(gone)) continue;
    Entry e{at->path(), at->last_write_time(gone), 0};
    // In blocks of the disk.
    e.bytes = (at->file_size(gone) / 4096 + 1) * 4096;
    if (gone) continue;
    bytes += e.bytes;
    entries.push_back(std::move(e));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (bytes <= most) return;
    if (fs::remove(e.path, error)) bytes -= e.bytes;
  }
}

}  // namespace sy::cpu::jit
