#include <zlib.h>

#include <algorithm>

#include "frontend/io/format/string_pairs.h"
#include "frontend/io/format/zip.h"
#include "frontend/io/format/zip_layout.h"

namespace sy::io {

namespace {

using namespace zip;

// A byte of deflated data is at most four copies of 258 bytes.
constexpr uint64_t kMostPerByte = 1032;

struct Directory {
  uint64_t begin;
  uint64_t end;
  uint64_t members;
};

// The last record: at the end of the file but for a comment.
uint64_t find_end(const FileView& f) {
  const uint64_t furthest = kEndSize + 0xffff;
  for (uint64_t back = kEndSize; back <= std::min(f.size, furthest); ++back) {
    const uint64_t at = f.size - back;
    if (f.data[at] == 'P' && f.u32(at, "") == kEnd &&
        f.u16(at + 20, "") == back - kEndSize) {
      return at;
    }
  }
  f.fail("expected a zip archive, found no end of its directory");
}

Directory find_directory(const FileView& f) {
  const uint64_t end = find_end(f);
  constexpr const char* kWhat = "the end of the directory";
  if (f.u16(end + 4, kWhat) != f.u16(end + 6, kWhat) ||
      f.u16(end + 8, kWhat) != f.u16(end + 10, kWhat)) {
    f.fail_at(end, "archives in several parts are not supported");
  }
  Directory d{f.u32(end + 16, kWhat), 0, f.u16(end + 10, kWhat)};
  uint64_t size = f.u32(end + 12, kWhat);
  uint64_t next = end;
  if (end >= kLocator64Size &&
      f.u32(end - kLocator64Size, kWhat) == kLocator64) {
    const uint64_t locator = end - kLocator64Size;
    next = f.u64(locator + 8, kWhat);
    f.need(next, kEnd64Size, "the 64-bit end of the directory");
    if (f.u32(next, kWhat) != kEnd64 || next + kEnd64Size > locator ||
        f.u64(next + 4, kWhat) != locator - next - 12) {
      f.fail_at(locator,
                "expected the place of the 64-bit end of the directory, got {}",
                next);
    }
    if (f.u32(next + 16, kWhat) != f.u32(next + 20, kWhat) ||
        f.u64(next + 24, kWhat) != f.u64(next + 32, kWhat)) {
      f.fail_at(next, "archives in several parts are not supported");
    }
    d = {f.u64(next + 48, kWhat), 0, f.u64(next + 32, kWhat)};
    size = f.u64(next + 40, kWhat);
  }
  if (d.begin > next || size != next - d.begin) {
    f.fail_at(next, "expected a directory of {} bytes at {} to end here", size,
              d.begin);
  }
  d.end = next;
  return d;
}

// Replaces what the 64-bit extra field has, in the order in which it has it.
template <size_t n>
void take_extra64(const FileView& f, uint64_t at, uint64_t size,
                  uint64_t* const (&fields)[n]) {
  const uint64_t end = at + size;
  while (end - at >= 4) {
    const uint16_t id = f.u16(at, "an extra field");
    const uint64_t length = f.u16(at + 2, "an extra field");
    if (length > end - at - 4) {
      f.fail_at(at, "expected an extra field of at most {} bytes, got {}",
                end - at - 4, length);
    }
    uint64_t from = at + 4;
    at += 4 + length;
    if (id != kExtra64) continue;
    for (uint64_t* const field : fields) {
      if (*field != kElsewhere32) continue;
      if (at - from < 8) f.fail_at(from, "expected a 64-bit size, got none");
      *field = f.u64(from, "an extra field");
      from += 8;
    }
    return;
  }
}

// Checks that the header in front of a member's data agrees with the directory;
// sets where the data starts.
void read_local_header(const FileView& f, uint64_t at, uint16_t flags,
                       uint64_t directory, ZipMember& m) {
  const std::string name = in_quotes(m.name);
  f.need(at, kLocalHeaderSize, "the header of a member");
  if (f.u32(at, "") != kLocalHeader) {
    f.fail_at(at, "expected the header of {}", name);
  }
  const uint64_t name_size = f.u16(at + 26, "");
  const uint64_t extra_size = f.u16(at + 28, "");
  const uint64_t extra = at + kLocalHeaderSize + name_size;
  m.data = extra + extra_size;
  if (m.data > directory || m.compressed > directory - m.data) {
    f.fail_at(at, "{}: expected {} bytes in front of the directory at {}", name,
              m.compressed, directory);
  }
  const auto agree = [&](bool equal, const char* what) {
    if (equal) return;
    f.fail_at(at, "{}: its {} is not that of the directory", name, what);
  };
  agree(f.text(at + kLocalHeaderSize, name_size, "") == m.name, "name");
  agree(f.u16(at + 6, "") == flags, "flags");
  agree(f.u16(at + 8, "") == (m.deflated ? kDeflated : kStored), "method");
  if ((flags & kSizesBehind) != 0) return;
  agree(f.u32(at + 14, "") == m.crc, "check sum");
  uint64_t compressed = f.u32(at + 18, "");
  uint64_t size = f.u32(at + 22, "");
  take_extra64(f, extra, extra_size, {&size, &compressed});
  agree(compressed == m.compressed && size == m.size, "size");
}

// Reads the entry of the directory at `at`, and where its member starts.
ZipMember read_member(const FileView& f, uint64_t& at, const Directory& d,
                      uint64_t& start) {
  constexpr const char* kWhat = "an entry of the directory";
  f.need(at, kDirectoryHeaderSize, kWhat);
  if (f.u32(at, kWhat) != kDirectoryHeader) {
    f.fail_at(at, "expected {}", kWhat);
  }
  const uint64_t name_size = f.u16(at + 28, kWhat);
  const uint64_t extra_size = f.u16(at + 30, kWhat);
  const uint64_t comment_size = f.u16(at + 32, kWhat);
  const uint64_t extra = at + kDirectoryHeaderSize + name_size;
  const uint64_t end = extra + extra_size + comment_size;
  if (end > d.end) f.fail_at(at, "expected {} to end by {}", kWhat, d.end);

  ZipMember m;
  m.name = f.text(at + kDirectoryHeaderSize, name_size, kWhat);
  m.crc = f.u32(at + 16, kWhat);
  m.compressed = f.u32(at + 20, kWhat);
  m.size = f.u32(at + 24, kWhat);
  start = f.u32(at + 42, kWhat);
  take_extra64(f, extra, extra_size, {&m.size, &m.compressed, &start});

  const uint16_t flags = f.u16(at + 8, kWhat);
  const uint16_t method = f.u16(at + 10, kWhat);
  const std::string name = in_quotes(m.name);
  const bool ascii =
      std::all_of(m.name.begin(), m.name.end(), [](char c) { return c > 0; });
  if ((flags & (kEncrypted | kPatched)) != 0) {
    f.fail_at(at, "{}: encrypted members are not supported", name);
  }
  if (!ascii && ((flags & kUtf8) == 0 || m.name.find('\0') != m.name.npos)) {
    f.fail_at(at, "{}: expected a name in UTF-8", name);
  }
  if (method != kStored && method != kDeflated) {
    f.fail_at(at, "{}: expected method 0 (stored) or 8 (deflated), got {}",
              name, int{method});
  }
  m.deflated = method == kDeflated;
  const uint64_t most = m.deflated && m.compressed <= f.size
                            ? m.compressed * kMostPerByte
                            : m.compressed;
  if (m.deflated ? m.size > most : m.size != m.compressed) {
    f.fail_at(at, "{}: {} bytes cannot become {}", name, m.compressed, m.size);
  }
  read_local_header(f, start, flags, d.begin, m);
  at = end;
  return m;
}

[[noreturn]] void damaged(const FileView& f, const ZipMember& m,
                          const char* what) {
  f.fail_at(m.data, "{}: {}", in_quotes(m.name), what);
}

// 0 is in the place of a check sum that the writer did not compute.
void check_sum(const FileView& f, const ZipMember& m, uint32_t crc) {
  if (m.crc != 0 && crc != m.crc) damaged(f, m, "its check sum does not agree");
}

struct Inflater {
  z_stream stream{};
  ~Inflater() { inflateEnd(&stream); }
};

}  // namespace

std::vector<ZipMember> read_zip(const FileView& f) {
  const Directory d = find_directory(f);
  std::vector<ZipMember> members;
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (uint64_t at = d.begin; at < d.end;) {
    uint64_t start = 0;
    members.push_back(read_member(f, at, d, start));
    const ZipMember& m = members.back();
    places.emplace_back(start, m.data + m.compressed);
  }
  if (members.size() != d.members) {
    f.fail_at(d.begin, "expected {} entries of the directory, got {}",
              d.members, members.size());
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].first < places[i - 1].second) {
      f.fail_at(places[i].first, "expected members that do not overlap");
    }
  }
  std::vector<const std::string*> names;
  for (const ZipMember& m : members) names.push_back(&m.name);
  if (const std::string* const twice = repeated(std::move(names))) {
    f.fail_key(*twice, "expected once, got twice");
  }
  return members;
}

void check_stored(const FileView& f, const ZipMember& m) {
  check_sum(f, m, crc32(0, f.data + m.data, m.size));
}

void inflate_member(const FileView& f, const ZipMember& m, uint8_t* out) {
  Inflater inflater;
  z_stream& z = inflater.stream;
  // Without zlib's own header and check sum.
  SY_CHECK(inflateInit2(&z, -MAX_WBITS) == Z_OK, OutOfMemory,
           "[{}] no memory to inflate {}", f.op, in_quotes(m.name));
  constexpr uint64_t kMost = 1 << 30;
  uint64_t in_left = m.compressed, out_left = m.size;
  z.next_in = const_cast<uint8_t*>(f.data + m.data);
  // zlib wants a place to write to, for no byte also.
  uint8_t none = 0;
  z.next_out = m.size == 0 ? &none : out;
  int status = Z_OK;
  while (status == Z_OK) {
    const auto in = static_cast<uInt>(std::min(in_left, kMost));
    const auto room = static_cast<uInt>(std::min(out_left, kMost));
    z.avail_in = in;
    z.avail_out = room;
    status = inflate(&z, Z_NO_FLUSH);
    in_left -= in - z.avail_in;
    out_left -= room - z.avail_out;
    // No progress is Z_BUF_ERROR: the loop ends.
  }
  if (status != Z_STREAM_END) damaged(f, m, "its data cannot be inflated");
  if (in_left != 0 || out_left != 0) {
    damaged(f, m, "its data are not as long as the directory says");
  }
  check_sum(f, m, crc32(0, out, m.size));
}

uint32_t crc32(uint32_t crc, const void* data, uint64_t size) {
  if (size == 0) return crc;  // zlib would start anew for a null pointer
  return static_cast<uint32_t>(
      ::crc32_z(crc, static_cast<const Bytef*>(data), size));
}

}  // namespace sy::io
