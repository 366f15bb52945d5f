#include "frontend/distributed/checkpoint/checkpoint_manifest.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

#include "c10/process/error.h"
#include "frontend/io/file_error.h"
#include "frontend/io/format/mapped_file.h"
#include "frontend/io/format/safetensors_index.h"
#include "frontend/io/format/zip.h"

namespace sy::distributed {

namespace {

constexpr const char* kFormat = "switchyard checkpoint 1";
constexpr const char* kCheck = "check";
// Written by the index itself.
constexpr const char* kTotalSize = "total_size";

std::string hex(uint32_t v) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", v);
  return text;
}

std::string check_of(const io::SafetensorsIndex& index) {
  uint32_t crc = 0;
  const auto add = [&](const io::StringPairs& pairs) {
    for (const auto& [name, value] : pairs) {
      if (name == kCheck || name == kTotalSize) continue;
      crc = io::crc32(crc, name.c_str(), name.size() + 1);
      crc = io::crc32(crc, value.c_str(), value.size() + 1);
    }
  };
  add(index.metadata);
  add(index.files);
  return hex(crc);
}

// Splits "F32 1000 16" and reads its numbers.
class Fields {
 public:
  Fields(const io::FileView& file, const std::string& key,
         const std::string& value)
      : file_(file), key_(key), rest_(value) {}
  bool done() const { return rest_.empty(); }
  std::string_view word() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view w = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return w;
  }
  uint64_t number(int base = 10) {
    const std::string_view w = word();
    uint64_t v = 0;
    const char* const end = w.data() + w.size();
    const auto [at, error] = std::from_chars(w.data(), end, v, base);
    if (error != std::errc() || at != end || v > uint64_t{1} << 62) {
      file_.fail_key(key_, "expected a number, got {}", io::in_quotes(w));
    }
    return v;
  }
  int64_t signed_number() { return static_cast<int64_t>(number()); }

 private:
  const io::FileView& file_;
  const std::string& key_;
  std::string_view rest_;
};

// The name after "file/"; false for other keys.
bool after(const std::string& key, std::string_view prefix, std::string* name) {
  if (!key.starts_with(prefix)) return false;
  *name = key.substr(prefix.size());
  return true;
}

void check_rows(const io::FileView& file, const Manifest& m) {
  std::set<std::string_view> files;
  for (const Manifest::File& f : m.files) files.insert(f.name);
  for (const Manifest::Shard& s : m.shards) {
    int64_t next = 0;
    for (const Manifest::Rows& r : s.rows) {
      if (r.offset != next || !files.contains(r.file)) {
        file.fail_key(s.name, "expected rows from {} on, got {} of {}", next,
                      r.offset, io::in_quotes(r.file));
      }
      next += r.count;
    }
    if (s.rows.empty() || next != s.sizes[0]) {
      file.fail_key(s.name, "expected {} rows, got {}", s.sizes[0], next);
    }
  }
}

}  // namespace

std::string rank_file_name(int64_t rank) {
  char text[64];
  std::snprintf(text, sizeof text, "rank-%05lld.safetensors",
                static_cast<long long>(rank));
  return text;
}

bool Manifest::has(const std::string& file) const {
  return std::any_of(files.begin(), files.end(),
                     [&](const File& f) { return f.name == file; });
}

std::string Manifest::text(const char* op) const {
  io::SafetensorsIndex index;
  const auto add = [&](std::string key, std::string value) {
    index.metadata.emplace_back(std::move(key), std::move(value));
  };
  add("format", kFormat);
  add("id", id);
  add("ranks", str("{}", ranks));
  for (const auto& [name, value] : values) add(str("value/{}", name), value);
  uint64_t total = 0;
  for (const File& f : files) {
    add(str("file/{}", f.name), str("{} {}", f.bytes, hex(f.crc)));
    total += f.bytes;
  }
  for (const Shard& s : shards) {
    std::string value = s.dtype;
    for (const int64_t n : s.sizes) value += str(" {}", n);
    add(str("shard/{}", s.name), value);
    for (const Rows& r : s.rows) {
      add(str("rows/{}/{}", s.name, r.file), str("{} {}", r.offset, r.count));
    }
  }
  for (const std::string& t : tensors) {
    index.files.emplace_back(t, kReplicatedName);
  }
  add(kCheck, check_of(index));
  return io::safetensors_index(op, index, total);
}

Manifest Manifest::read(const char* op, const std::string& path) {
  const auto mapped = io::MappedFile::open(op, path);
  const io::FileView file = mapped->view(op);
  const io::SafetensorsIndex index = io::parse_safetensors_index(file);
  const auto value_of = [&](std::string_view key) {
    for (const auto& [name, value] : index.metadata) {
      if (name == key) return value;
    }
    file.fail_key(key, "expected in the metadata, got none");
  };
  const std::string format = value_of("format");
  if (format != kFormat) {
    file.fail_key("format", "expected {}, got {}", io::in_quotes(kFormat),
                  io::in_quotes(format));
  }
  if (value_of(kCheck) != check_of(index)) {
    file.fail("damaged: its check sum does not agree");
  }
  Manifest m;
  for (const auto& [key, value] : index.metadata) {
    Fields fields(file, key, value);
    std::string name;
    if (key == "id") {
      m.id = value;
    } else if (key == "ranks") {
      m.ranks = fields.signed_number();
    } else if (after(key, "value/", &name)) {
      m.values.emplace_back(name, value);
    } else if (after(key, "file/", &name)) {
      if (name.find('/') != name.npos) {
        file.fail_key(key, "expected a file of this folder");
      }
      const uint64_t bytes = fields.number();
      const uint64_t crc = fields.number(16);
      m.files.push_back({name, bytes, static_cast<uint32_t>(crc)});
    } else if (after(key, "shard/", &name)) {
      Shard& s = m.shards.emplace_back();
      s.name = name;
      s.dtype = fields.word();
      while (!fields.done()) s.sizes.push_back(fields.signed_number());
      if (s.sizes.empty()) file.fail_key(key, "expected sizes, got none");
    } else if (after(key, "rows/", &name)) {
      const size_t slash = name.find('/');
      if (slash == name.npos || m.shards.empty() ||
          m.shards.back().name != name.substr(0, slash)) {
        file.fail_key(key, "expected rows of the shard before");
      }
      const int64_t offset = fields.signed_number();
      m.shards.back().rows.push_back(
          {name.substr(slash + 1), offset, fields.signed_number()});
    }
  }
  for (const auto& [name, in] : index.files) m.tensors.push_back(name);
  check_rows(file, m);
  return m;
}

}  // namespace sy::distributed
