#include "tools/sy/support/json.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "c10/process/error.h"

namespace sy::tools {

Json parse_json(std::string_view text, const std::string& where) {
  std::vector<std::set<std::string>> open;  // keys of the objects around
  std::string twice;
  const auto watch = [&](int, Json::parse_event_t event, Json& v) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key &&
        !open.back().insert(v.get<std::string>()).second && twice.empty()) {
      twice = v.get<std::string>();
    }
    return true;
  };
  Json out;
  try {
    out = Json::parse(text, watch);
  } catch (const Json::exception& e) {
    fail(ErrorKind::Value, "{}: {}", where, e.what());
  }
  SY_CHECK(twice.empty(), Value, "{}: key \"{}\" twice", where, twice);
  return out;
}

std::vector<int64_t> int_list(const Json& v, const std::string& what) {
  SY_CHECK(v.is_array(), Value, "{}: expected a list of integers, got {}", what,
           dump(v));
  std::vector<int64_t> out;
  for (const Json& e : v) {
    const bool fits =
        e.is_number_integer() &&
        !(e.is_number_unsigned() && e.get<uint64_t>() > uint64_t(INT64_MAX));
    SY_CHECK(fits, Value, "{}: expected an integer, got {}", what, dump(e));
    out.push_back(e.get<int64_t>());
  }
  return out;
}

std::string dump(const Json& v, int indent) {
  return v.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  SY_CHECK(in, Value, "{}: {}", path, std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  SY_CHECK(!in.bad(), Value, "{}: cannot be read", path);
  return text;
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
  SY_CHECK(out, Error, "{}: {}", path, std::strerror(errno));
}

}  // namespace sy::tools
