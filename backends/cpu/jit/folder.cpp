#include "backends/cpu/jit/folder.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace sy::cpu::jit {

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

bool is_own(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return name.size() == 32 &&
         name.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace

Folder::Folder(std::string path, uint64_t fingerprint)
    : folder_(std::move(path)), fingerprint_(fingerprint) {}

std::string Folder::default_path() {
  return CacheFolder::default_path("SWITCHYARD_JIT_CACHE", "jit");
}

std::string Folder::file_of(std::string_view request) const {
  char name[40];
  std::snprintf(
      name, sizeof name, "%016llx%016llx",
      static_cast<unsigned long long>(hash_of(request, fingerprint_)),
      static_cast<unsigned long long>(hash_of(request, ~fingerprint_ * 3)));
  return name;
}

bool Folder::read(std::string_view request, std::string* image) const {
  std::string text;
  if (folder_.read(file_of(request), kMostBytes, &text) !=
      CacheFolder::Found::kRead) {
    return false;
  }
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
  const std::string_view bytes(reinterpret_cast<const char*>(&head),
                               sizeof head);
  folder_.write(file_of(request), bytes, rest);
}

void Folder::trim(uint64_t most) const { folder_.trim(most, &is_own); }

}  // namespace sy::cpu::jit
