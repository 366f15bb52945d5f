#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include "backends/cuda/compile/pack.h"
#include "backends/cuda/compile/pack_format.h"
#include "c10/process/error.h"

namespace sy::cuda {

namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string_view bytes_of(const void* p, size_t n) {
  return {static_cast<const char*>(p), n};
}

auto order_of(const PackEntry& e) {
  return std::tie(e.key, e.is_ptx, e.architecture);
}

std::string deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  const int r = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                          reinterpret_cast<const Bytef*>(text.data()),
                          text.size(), Z_BEST_COMPRESSION);
  SY_INTERNAL_ASSERT(r == Z_OK);
  out.resize(size);
  return out;
}

uint64_t rounded(uint64_t n) { return (n + 15) / 16 * 16; }

}  // namespace

void write_pack(const std::string& path, const std::vector<PackItem>& items) {
  // Equal images lie there once.
  std::map<Hash, std::pair<uint64_t, uint64_t>> places;
  std::vector<std::string> images;
  std::vector<PackEntry> entries;
  size_t n = 0;
  for (const PackItem& item : items)
    n += item.keys.size() * item.targets.size();
  uint64_t at = rounded(sizeof(PackHead) + n * sizeof(PackEntry));
  for (const PackItem& item : items) {
    PackEntry e;
    e.image = hash_of(item.bytes);
    e.inflated = item.bytes.size();
    SY_CHECK(e.inflated != 0, Error, "[cuda] {}: an image is empty", path);
    auto place = places.find(e.image);
    if (place == places.end()) {
      const std::string& image = images.emplace_back(deflated(item.bytes));
      place = places.try_emplace(e.image, at, image.size()).first;
      at = rounded(at + image.size());
    }
    std::tie(e.offset, e.bytes) = place->second;
    for (const Hash& key : item.keys) {
      for (const Target& t : item.targets) {
        e.key = key;
        e.architecture = static_cast<uint32_t>(t.architecture);
        e.is_ptx = t.is_ptx;
        entries.push_back(e);
      }
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const PackEntry& x, const PackEntry& y) {
              return order_of(x) < order_of(y);
            });
  for (size_t i = 1; i < entries.size(); ++i) {
    const PackEntry& e = entries[i];
    SY_CHECK(
        order_of(entries[i - 1]) < order_of(e), Error,
        "[cuda] {}: two images for key {} and {}", path, hex(e.key),
        to_string(Target{static_cast<int>(e.architecture), e.is_ptx != 0}));
  }

  PackHead head;
  head.entries = static_cast<uint32_t>(entries.size());
  head.bytes = at;
  const std::string_view index =
      bytes_of(entries.data(), entries.size() * sizeof(PackEntry));
  head.index = hash_of(index);
  head.head = head.sum();

  std::string fresh = path + ".XXXXXX";
  const int fd = mkostemp(fresh.data(), O_CLOEXEC);
  SY_CHECK(fd >= 0, Error, "[cuda] cannot write {}: {}", path,
           std::strerror(errno));
  uint64_t written = sizeof head + index.size();
  bool good =
      write_all(fd, bytes_of(&head, sizeof head)) && write_all(fd, index);
  const auto pad = [&] {
    const std::string zeros(rounded(written) - written, '\0');
    written += zeros.size();
    good = good && write_all(fd, zeros);
  };
  pad();
  for (const std::string& image : images) {
    good = good && write_all(fd, image);
    written += image.size();
    pad();
  }
  struct stat old;
  const mode_t mode =
      stat(path.c_str(), &old) == 0 ? old.st_mode & 0777 : mode_t{0644};
  good = good && fchmod(fd, mode) == 0;
  good = close(fd) == 0 && good;
  if (good) good = rename(fresh.c_str(), path.c_str()) == 0;
  if (!good) {
    const std::string why = std::strerror(errno);
    unlink(fresh.c_str());
    fail(ErrorKind::Error, "[cuda] cannot write {}: {}", path, why);
  }
}

}  // namespace sy::cuda
