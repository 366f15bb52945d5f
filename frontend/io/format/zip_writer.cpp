#include <algorithm>

#include "frontend/io/format/zip.h"
#include "frontend/io/format/zip_layout.h"

namespace sy::io {

namespace {

using namespace zip;

constexpr uint64_t kAlignment = 64;
// 1 January 1980, so that equal members make equal archives.
constexpr uint16_t kTime = 0;
constexpr uint16_t kDate = 1 << 5 | 1;

// A record, from its little-endian fields.
class Record {
 public:
  Record& u16(uint64_t v) { return number(v, 2); }
  Record& u32(uint64_t v) { return number(v, 4); }
  Record& u64(uint64_t v) { return number(v, 8); }
  Record& text(std::string_view t) {
    bytes_ += t;
    return *this;
  }
  // The value, or that it stands elsewhere.
  Record& fit16(uint64_t v) { return u16(std::min<uint64_t>(v, kElsewhere16)); }
  Record& fit32(uint64_t v) { return u32(std::min<uint64_t>(v, kElsewhere32)); }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& number(uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(v >> 8 * i);
    return *this;
  }

  std::string bytes_;
};

bool large(uint64_t v) { return v >= kElsewhere32; }

uint16_t flags_of(const std::string& name) {
  const bool ascii =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= 0; });
  return ascii ? 0 : kUtf8;
}

// Version to extract, flags, method, time, date, check sum, sizes.
void common_fields(Record& r, const std::string& name, uint64_t size,
                   uint32_t crc, bool needs64) {
  r.u16(needs64 ? 45 : 20).u16(flags_of(name)).u16(kStored);
  r.u16(kTime).u16(kDate).u32(crc).fit32(size).fit32(size);
}

}  // namespace

void ZipWriter::member(std::string_view op, std::string name, uint64_t size,
                       uint32_t crc) {
  SY_CHECK(name.size() <= 0xffff, Value,
           "[{}] tensors: expected names of at most 65535 bytes, got {}", op,
           name.size());
  const uint64_t start = file_.size();
  Record extra;
  if (large(size)) extra.u16(kExtra64).u16(16).u64(size).u64(size);
  const uint64_t data =
      start + kLocalHeaderSize + name.size() + extra.bytes().size() + 4;
  const uint64_t padding = (kAlignment - data % kAlignment) % kAlignment;
  extra.u16(kExtraPadding).u16(padding).text(std::string(padding, '\0'));
  Record header;
  header.u32(kLocalHeader);
  common_fields(header, name, size, crc, large(size));
  header.u16(name.size()).u16(extra.bytes().size()).text(name);
  file_.write(header.text(extra.bytes()).bytes());
  members_.push_back({std::move(name), size, start, crc});
}

void ZipWriter::finish() {
  const uint64_t begin = file_.size();
  for (const Written& m : members_) {
    Record extra64;
    if (large(m.size)) extra64.u64(m.size).u64(m.size);
    if (large(m.header)) extra64.u64(m.header);
    Record extra;
    const size_t length = extra64.bytes().size();
    if (length > 0) extra.u16(kExtra64).u16(length).text(extra64.bytes());
    Record entry;
    entry.u32(kDirectoryHeader).u16(length > 0 ? 45 : 20);
    common_fields(entry, m.name, m.size, m.crc, length > 0);
    entry.u16(m.name.size()).u16(extra.bytes().size());
    // No comment, the first disk, no attributes.
    entry.u16(0).u16(0).u16(0).u32(0).fit32(m.header).text(m.name);
    file_.write(entry.text(extra.bytes()).bytes());
  }
  const uint64_t end = file_.size();
  const uint64_t size = end - begin;
  const uint64_t count = members_.size();
  if (large(begin) || large(size) || count >= kElsewhere16) {
    Record r;
    r.u32(kEnd64).u64(kEnd64Size - 12).u16(45).u16(45).u32(0).u32(0);
    r.u64(count).u64(count).u64(size).u64(begin);
    r.u32(kLocator64).u32(0).u64(end).u32(1);
    file_.write(r.bytes());
  }
  Record r;
  r.u32(kEnd).u16(0).u16(0).fit16(count).fit16(count);
  file_.write(r.fit32(size).fit32(begin).u16(0).bytes());
}

}  // namespace sy::io
