#include "backends/cuda/compile/cache.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace sy::cuda {

namespace {

constexpr uint64_t kKeyMagic = 0x3159454B43594353;    // SCYCKEY1
constexpr uint64_t kImageMagic = 0x31474D4943594353;  // SCYCIMG1
constexpr char kKeySuffix[] = ".key", kImageSuffix[] = ".image";
constexpr size_t kMostImage = size_t{256} << 20;

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

bool is_own(std::string_view name) {
  return name.ends_with(kKeySuffix) || name.ends_with(kImageSuffix);
}

}  // namespace

Cache::Cache(std::string path, uint64_t most_bytes)
    : folder_(std::move(path)), most_(most_bytes) {}

std::string Cache::default_path() {
  return CacheFolder::default_path("SWITCHYARD_CUDA_CACHE", "cuda");
}

bool Cache::read(const Hash& key, Image* image) const {
  using Found = CacheFolder::Found;
  const std::string key_name = hex(key) + kKeySuffix;
  const auto damaged = [&](const std::string& name) {
    folder_.remove(name);
    return false;
  };
  std::string text;
  Found found = folder_.read(key_name, sizeof(KeyFile), &text);
  if (found == Found::kNone) return false;
  KeyFile k;
  if (found == Found::kDamaged || text.size() != sizeof k) {
    return damaged(key_name);
  }
  std::memcpy(&k, text.data(), sizeof k);
  if (k.magic != kKeyMagic || k.key != key || k.checksum != k.sum()) {
    return damaged(key_name);
  }

  const std::string image_name = hex(k.image) + kImageSuffix;
  text.clear();
  found = folder_.read(image_name, kMostImage, &text);
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
  if (folder_.write(name, head, bytes)) return true;
  // A folder that is given read-only is meant to be.
  if (errno != EACCES && errno != EROFS && !told_.exchange(true)) {
    std::fprintf(stderr,
                 "switchyard: cuda: compiled kernels are not kept: %s: "
                 "%s\n",
                 path().c_str(), std::strerror(errno));
  }
  return false;
}

void Cache::write(const std::vector<Hash>& keys, const Image& image) {
  if (!why_off().empty() || !image) return;
  if (written_++ % 64 == 0) trim();
  ImageHead head;
  head.bytes = image.bytes.size();
  head.id = image.id;
  // The image comes first, as the key files name it.
  if (!write_file(hex(image.id) + kImageSuffix, bytes_of(head), image.bytes)) {
    return;
  }
  for (const Hash& key : keys) {
    KeyFile k;
    k.key = key;
    k.image = image.id;
    k.checksum = k.sum();
    if (!write_file(hex(key) + kKeySuffix, bytes_of(k), {})) return;
  }
}

void Cache::remove(const Hash& key) const {
  folder_.remove(hex(key) + kKeySuffix);
}

void Cache::trim() const { folder_.trim(most_, &is_own); }

}  // namespace sy::cuda
