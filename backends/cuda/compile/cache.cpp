#include "backends/cuda/compile/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

namespace sy::cuda {

namespace {

constexpr uint64_t kKeyMagic = 0x3159454B43594353;    // SCYCKEY1
constexpr uint64_t kImageMagic = 0x31474D4943594353;  // SCYCIMG1
constexpr char kKeySuffix[] = ".key", kImageSuffix[] = ".image";
constexpr char kFresh[] = "fresh-";
constexpr size_t kMostImage = size_t{256} << 20;
constexpr time_t kHour = 3600;

// Both have what the name says, too: a file that was renamed is damaged.
struct KeyFile {
  uint64_t magic = kKeyMagic;
  Hash key, image, checksum;

  Hash sum() const {
    return Hasher()
        .add(magic)
        .add(key.a)
        .add(key.b)
        .add(image.a)
        .add(image.b)
        .end();
  }
};
struct ImageHead {
  uint64_t magic = kImageMagic;
  uint64_t bytes = 0;
  Hash id;
};
template <class T>
std::string_view bytes_of(const T& t) {
  return {reinterpret_cast<const char*>(&t), sizeof t};
}

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

  // False for what is no such file; it may be damaged all the same.
  bool read_all(std::string* text) const {
    struct stat s;
    if (fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode) || others_could_write(s) ||
        static_cast<size_t>(s.st_size) > kMostImage) {
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
    // For trim(), where the system keeps no such times.
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

enum class Found { kNone, kDamaged, kRead };

Found read_file(const std::string& name, std::string* text) {
  const File file(
      open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return Found::kNone;
  return file.read_all(text) ? Found::kRead : Found::kDamaged;
}

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

Cache::Cache(std::string path, uint64_t most_bytes)
    : path_(std::move(path)), most_(most_bytes) {
  if (!path_.empty()) make_folders(path_);
  why_off_ = why_unusable(path_);
}

std::string Cache::default_path() {
  if (const char* const own = std::getenv("SWITCHYARD_CUDA_CACHE")) return own;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/switchyard/cuda";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return std::string(home) + "/.cache/switchyard/cuda";
}

std::string Cache::file_of(const Hash& h, const char* suffix) const {
  return path_ + "/" + hex(h) + suffix;
}

bool Cache::read(const Hash& key, Image* image) const {
  if (!why_off_.empty()) return false;
  const std::string key_name = file_of(key, kKeySuffix);
  const auto damaged = [](const std::string& name) {
    unlink(name.c_str());
    return false;
  };
  std::string text;
  Found found = read_file(key_name, &text);
  if (found == Found::kNone) return false;
  KeyFile k;
  if (found == Found::kDamaged || text.size() != sizeof k) {
    return damaged(key_name);
  }
  std::memcpy(&k, text.data(), sizeof k);
  if (k.magic != kKeyMagic || k.key != key || k.checksum != k.sum()) {
    return damaged(key_name);
  }

  const std::string image_name = file_of(k.image, kImageSuffix);
  text.clear();
  found = read_file(image_name, &text);
  if (found == Found::kNone) return damaged(key_name);
  ImageHead head;
  if (found == Found::kDamaged || text.size() <= sizeof head) {
    return damaged(image_name);
  }
  std::memcpy(&head, text.data(), sizeof head);
  text.erase(0, sizeof head);
  if (head.magic != kImageMagic || head.bytes != text.size() ||
      head.id != k.image || hash_of(text) != k.image) {
    return damaged(image_name);
  }
  *image = Image::make(std::move(text));
  return true;
}

bool Cache::write_file(const std::string& name, std::string_view head,
                       std::string_view bytes) {
  std::string fresh = path_ + "/" + kFresh + "XXXXXX";
  const File file(mkostemp(fresh.data(), O_CLOEXEC));
  if (file.is_open()) {
    if (file.write_all(head) && file.write_all(bytes) &&
        rename(fresh.c_str(), name.c_str()) == 0) {
      return true;
    }
    const int error = errno;
    unlink(fresh.c_str());
    errno = error;
  }
  // A folder that is given read-only is meant to be.
  if (errno != EACCES && errno != EROFS && !told_.exchange(true)) {
    std::fprintf(stderr,
                 "switchyard: cuda: compiled kernels are not kept: %s: "
                 "%s\n",
                 path_.c_str(), std::strerror(errno));
  }
  return false;
}

void Cache::write(const std::vector<Hash>& keys, const Image& image) {
  if (!why_off_.empty() || !image) return;
  if (written_++ % 64 == 0) trim();
  ImageHead head;
  head.bytes = image.bytes.size();
  head.id = image.id;
  // First what the others name.
  if (!write_file(file_of(image.id, kImageSuffix), bytes_of(head),
                  image.bytes)) {
    return;
  }
  for (const Hash& key : keys) {
    KeyFile k;
    k.key = key;
    k.image = image.id;
    k.checksum = k.sum();
    if (!write_file(file_of(key, kKeySuffix), bytes_of(k), {})) return;
  }
}

void Cache::remove(const Hash& key) const {
  if (why_off_.empty()) unlink(file_of(key, kKeySuffix).c_str());
}

void Cache::trim() const {
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
    if (!is_fresh && !name.ends_with(kKeySuffix) &&
        !name.ends_with(kImageSuffix)) {
      continue;
    }
    std::string path = path_ + "/" + d->d_name;
    struct stat s;
    if (lstat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    if (is_fresh) {
      // Its process ended too early.
      if (s.st_mtime + kHour < now) unlink(path.c_str());
      continue;
    }
    // In blocks of the disk.
    const uint64_t size = (static_cast<uint64_t>(s.st_size) / 4096 + 1) * 4096;
    bytes += size;
    entries.push_back({std::move(path), s.st_mtime, size});
  }
  closedir(folder);
  if (bytes <= most_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& x, const Entry& y) { return x.used < y.used; });
  // A quarter more, not to do this all the time.
  for (const Entry& e : entries) {
    if (bytes <= most_ / 4 * 3) return;
    if (unlink(e.path.c_str()) == 0) bytes -= e.bytes;
  }
}

}  // namespace sy::cuda
