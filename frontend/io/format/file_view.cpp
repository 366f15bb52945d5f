#include "frontend/io/format/file_view.h"

#include <bit>
#include <cstring>

#include "frontend/io/file_error.h"

namespace sy::io {

static_assert(std::endian::native == std::endian::little,
              "numbers and elements are read as they lie in the file");

namespace {

constexpr size_t kLongestName = 60;

template <class T>
T number(const FileView& f, uint64_t at, const char* what) {
  f.need(at, sizeof(T), what);
  T value;
  std::memcpy(&value, f.data + at, sizeof(T));
  return value;
}

}  // namespace

std::string in_quotes(std::string_view name) {
  std::string out = "'";
  for (const char c : name.substr(0, kLongestName)) {
    const bool plain = c >= ' ' && c <= '~' && c != '\'' && c != '\\';
    if (plain) {
      out += c;
    } else {
      constexpr char kHex[] = "0123456789abcdef";
      const auto byte = static_cast<uint8_t>(c);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  if (name.size() > kLongestName) out += "...";
  return out + "'";
}

void FileView::raise(const std::string& what) const {
  throw FileError(str("[{}] {}: {}", op, path, what));
}

void FileView::need(uint64_t at, uint64_t count, const char* what) const {
  if (at <= size && count <= size - at) return;
  fail_at(at, "expected {} bytes ({}), the file has {} bytes", count, what,
          size);
}

uint16_t FileView::u16(uint64_t at, const char* what) const {
  return number<uint16_t>(*this, at, what);
}
uint32_t FileView::u32(uint64_t at, const char* what) const {
  return number<uint32_t>(*this, at, what);
}
uint64_t FileView::u64(uint64_t at, const char* what) const {
  return number<uint64_t>(*this, at, what);
}

std::string_view FileView::text(uint64_t at, uint64_t count,
                                const char* what) const {
  need(at, count, what);
  return {reinterpret_cast<const char*>(data + at), count};
}

}  // namespace sy::io
