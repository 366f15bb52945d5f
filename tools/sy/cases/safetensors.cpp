#include "tools/sy/cases/safetensors.h"

#include <algorithm>
#include <cstring>

#include "c10/process/error.h"
#include "tools/sy/support/json.h"

namespace sy::tools {

namespace {

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit

constexpr struct {
  const char* name;
  ScalarType dtype;
} kNames[] = {{"BOOL", kBool}, {"U8", kByte},       {"I8", kChar},
              {"I16", kShort}, {"I32", kInt},       {"I64", kLong},
              {"F16", kHalf},  {"BF16", kBFloat16}, {"F32", kFloat},
              {"F64", kDouble}};

ScalarType dtype_of(const std::string& name, const std::string& where) {
  for (const auto& n : kNames) {
    if (name == n.name) return n.dtype;
  }
  fail(ErrorKind::Value, "{}: unknown dtype \"{}\"", where, name);
}

// Bytes of a tensor of that shape, or an error.
uint64_t bytes_of(const std::vector<int64_t>& shape, ScalarType dtype,
                  const std::string& where) {
  uint64_t n = element_size(dtype);
  for (int64_t s : shape) {
    SY_CHECK(s >= 0, Value, "{}: negative size {}", where, s);
    SY_CHECK(!__builtin_mul_overflow(n, static_cast<uint64_t>(s), &n), Value,
             "{}: the sizes overflow", where);
  }
  return n;
}

struct Header {
  Json json;
  std::string_view data;
};

Header split(const std::string& bytes, const std::string& name) {
  SY_CHECK(bytes.size() >= kLengthBytes, Value,
           "{}: {} bytes are too short for a header", name, bytes.size());
  uint64_t length;
  static_assert(sizeof length == kLengthBytes);
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const size_t rest = bytes.size() - kLengthBytes;
  SY_CHECK(length <= rest && length <= kMaxHeader, Value,
           "{}: a header of {} bytes in a file of {}", name, length,
           bytes.size());
  const std::string_view text(bytes.data() + kLengthBytes, length);
  SY_CHECK(!text.empty() && text.front() == '{', Value,
           "{}: the header does not begin with {{", name);
  Header h{parse_json(text, name), {}};
  h.data = std::string_view(bytes).substr(kLengthBytes + length);
  return h;
}

void check_metadata(const Json& v, const std::string& where) {
  SY_CHECK(v.is_object(), Value, "{}: expected an object", where);
  for (const auto& [key, text] : v.items()) {
    SY_CHECK(text.is_string(), Value, "{}.{}: expected a string", where, key);
  }
}

void check_bools(const Safetensors::Entry& e, const std::string& where) {
  if (e.dtype != kBool) return;
  SY_CHECK(std::all_of(e.bytes.begin(), e.bytes.end(),
                       [](unsigned char c) { return c <= 1; }),
           Value, "{}: a bool that is neither 0 nor 1", where);
}

Safetensors::Entry read_entry(const Json& v, std::string_view data,
                              const std::string& where) {
  SY_CHECK(v.is_object() && v.size() == 3 && v.contains("dtype") &&
               v.contains("shape") && v.contains("data_offsets") &&
               v["dtype"].is_string(),
           Value, "{}: expected dtype, shape and data_offsets, got {}", where,
           dump(v));
  Safetensors::Entry e{dtype_of(v["dtype"].get<std::string>(), where),
                       int_list(v["shape"], where),
                       {}};
  const std::vector<int64_t> at = int_list(v["data_offsets"], where);
  const uint64_t bytes = bytes_of(e.shape, e.dtype, where);
  SY_CHECK(at.size() == 2 && 0 <= at[0] && at[0] <= at[1] &&
               static_cast<uint64_t>(at[1]) <= data.size(),
           Value, "{}: data_offsets {} do not lie in {} bytes of data", where,
           dump(v["data_offsets"]), data.size());
  SY_CHECK(static_cast<uint64_t>(at[1] - at[0]) == bytes, Value,
           "{}: expected {} bytes, got {}", where, bytes, at[1] - at[0]);
  e.bytes = data.substr(at[0], bytes);
  check_bools(e, where);
  return e;
}

// Every byte of the data belongs to exactly one entry.
void check_cover(
    const std::map<std::string, Safetensors::Entry, std::less<>>& entries,
    std::string_view data, const std::string& name) {
  std::vector<std::pair<size_t, size_t>> spans;
  for (const auto& [key, e] : entries) {
    const auto begin = static_cast<size_t>(e.bytes.data() - data.data());
    spans.emplace_back(begin, begin + e.bytes.size());
  }
  std::sort(spans.begin(), spans.end());
  size_t end = 0;
  for (const auto& [first, last] : spans) {
    SY_CHECK(first >= end, Value, "{}: entries overlap at byte {}", name,
             first);
    SY_CHECK(first == end, Value, "{}: bytes {} to {} belong to no entry", name,
             end, first);
    end = last;
  }
  SY_CHECK(end == data.size(), Value, "{}: bytes {} to {} belong to no entry",
           name, end, data.size());
}

}  // namespace

const char* safetensors_name(ScalarType dtype) {
  for (const auto& n : kNames) {
    if (n.dtype == dtype) return n.name;
  }
  fail(ErrorKind::Internal, "no safetensors name of {}", dtype);
}

Safetensors Safetensors::load(const std::string& path) {
  return Safetensors(read_file(path), path);
}

Safetensors::Safetensors(std::string bytes, const std::string& name)
    : bytes_(std::make_unique<const std::string>(std::move(bytes))),
      name_(name) {
  const Header header = split(*bytes_, name);
  for (const auto& [key, v] : header.json.items()) {
    const std::string where = str("{}: {}", name, key);
    if (key == "__metadata__") {
      check_metadata(v, where);
    } else {
      entries_.emplace(key, read_entry(v, header.data, where));
    }
  }
  check_cover(entries_, header.data, name);
}

const Safetensors::Entry& Safetensors::at(std::string_view key) const {
  const auto it = entries_.find(key);
  SY_CHECK(it != entries_.end(), Value, "{}: no entry \"{}\"", name_, key);
  return it->second;
}

void Safetensors::add(const std::string& key, ScalarType dtype,
                      std::string bytes) {
  const std::string where = str("{}: {}", name_, key);
  SY_CHECK(entries_.count(key) == 0, Value, "{}: there is one already", where);
  const size_t item = element_size(dtype);
  SY_CHECK(bytes.size() % item == 0, Value,
           "{}: {} bytes are no elements of {}", where, bytes.size(), dtype);
  added_.push_back(std::make_unique<const std::string>(std::move(bytes)));
  const std::string& held = *added_.back();
  const Entry e{dtype, {static_cast<int64_t>(held.size() / item)}, held};
  check_bools(e, where);
  entries_.emplace(key, e);
}

}  // namespace sy::tools
