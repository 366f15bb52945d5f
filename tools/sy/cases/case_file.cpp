#include "tools/sy/cases/case_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "c10/process/error.h"

namespace sy::tools {

namespace {

void check_keys(const Json& v, const std::set<std::string>& allowed,
                const std::string& where) {
  SY_CHECK(v.is_object(), Value, "{}: expected an object, got {}", where,
           dump(v));
  for (const auto& [key, value] : v.items()) {
    SY_CHECK(allowed.count(key) != 0, Value, "{}: unknown field \"{}\"", where,
             key);
  }
}

const Json& field(const Json& v, const char* key, Json::value_t type,
                  const std::string& where) {
  SY_CHECK(v.contains(key) && v[key].type() == type, Value,
           "{}: no \"{}\", or of a wrong type", where, key);
  return v[key];
}

double tolerance(const Json& v, const char* key, const std::string& where) {
  SY_CHECK(v.contains(key) && v[key].is_number() && v[key].get<double>() >= 0,
           Value, "{}: \"{}\": expected a number of at least 0", where, key);
  return v[key].get<double>();
}

void parse_outcome(const Json& v, Case& c, const std::string& where) {
  c.returns = field(v, "returns", Json::value_t::array, where);
  c.mutated = Json::object();
  if (v.contains("mutated")) {
    c.mutated = field(v, "mutated", Json::value_t::object, where);
  }
  if (v.contains("grad")) {
    c.grad = field(v, "grad", Json::value_t::object, where);
    check_keys(c.grad, {"cotangents", "inputs"}, where + ".grad");
    field(c.grad, "cotangents", Json::value_t::array, where + ".grad");
    field(c.grad, "inputs", Json::value_t::object, where + ".grad");
  }
  c.rtol = tolerance(v, "rtol", where);
  c.atol = tolerance(v, "atol", where);
}

Case parse_case(const Json& v, const std::string& file) {
  SY_CHECK(v.is_object() && v.contains("id") && v["id"].is_string(), Value,
           "{}: a case without an id", file);
  Case c;
  c.id = v["id"];
  const std::string where = str("{}: {}", file, c.id);
  c.args = field(v, "args", Json::value_t::array, where);
  c.kwargs = field(v, "kwargs", Json::value_t::object, where);
  c.fails = v.contains("error");
  if (c.fails) {
    check_keys(v, {"id", "args", "kwargs", "error"}, where);
  } else {
    check_keys(
        v,
        {"id", "args", "kwargs", "returns", "mutated", "grad", "rtol", "atol"},
        where);
    parse_outcome(v, c, where);
  }
  return c;
}

// Storages that are made of pieces: "repeated".

constexpr int64_t kMaxElements = int64_t{1} << 28;

int64_t whole(const Json& v, const char* key, const std::string& where) {
  SY_CHECK(v.contains(key) && v[key].is_number_integer(), Value,
           "{}: \"{}\": expected a whole number", where, key);
  return v[key].get<int64_t>();
}

// The elements of another storage over and over, until there are `count`.
std::string over_and_over(const Safetensors::Entry& e, int64_t count,
                          const std::string& where) {
  const size_t bytes = static_cast<size_t>(count) * element_size(e.dtype);
  SY_CHECK(!e.bytes.empty() || bytes == 0, Value, "{}: nothing to repeat",
           where);
  std::string out;
  out.reserve(bytes);
  while (out.size() < bytes) {
    out += e.bytes.substr(0, bytes - out.size());
  }
  return out;
}

// first, first + step, ...
std::string steady(const Json& v, ScalarType dtype, int64_t count,
                   const std::string& where) {
  SY_CHECK(is_integral_type(dtype, false), Value, "{}: steps of {}", where,
           dtype);
  const auto first = static_cast<uint64_t>(whole(v, "from", where));
  const auto step = static_cast<uint64_t>(whole(v, "step", where));
  const size_t size = element_size(dtype);
  std::string out(static_cast<size_t>(count) * size, '\0');
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const uint64_t element = first + i * step;  // little-endian: its low bytes
    std::memcpy(out.data() + i * size, &element, size);
  }
  return out;
}

std::string piece(const Json& v, ScalarType dtype, const Safetensors& storages,
                  const std::string& where) {
  check_keys(v, {"of", "from", "step", "count"}, where);
  const int64_t count = whole(v, "count", where);
  SY_CHECK(0 <= count && count <= kMaxElements, Value, "{}: {} elements", where,
           count);
  if (!v.contains("of")) return steady(v, dtype, count, where);
  const Safetensors::Entry& e =
      storages.at(field(v, "of", Json::value_t::string, where)
                      .get_ref<const std::string&>());
  SY_CHECK(e.dtype == dtype, Value, "{}: elements of {} among {}", where,
           e.dtype, dtype);
  return over_and_over(e, count, where);
}

void add_repeated(const Json& v, Safetensors& storages,
                  const std::string& file) {
  for (const auto& [key, made] : v.items()) {
    const std::string where = str("{}: repeated.{}", file, key);
    check_keys(made, {"dtype", "pieces"}, where);
    const auto dtype = parse_scalar_type(
        field(made, "dtype", Json::value_t::string, where).get<std::string>());
    SY_CHECK(dtype.has_value(), Value, "{}: unknown dtype", where);
    std::string bytes;
    for (const Json& p : field(made, "pieces", Json::value_t::array, where)) {
      bytes += piece(p, *dtype, storages, where);
    }
    storages.add(key, *dtype, std::move(bytes));
  }
}

}  // namespace

CaseFile CaseFile::load(const std::string& folder, const std::string& name) {
  const std::string path = str("{}/{}.json", folder, name);
  CaseFile f =
      parse(parse_json(read_file(path), path),
            Safetensors::load(str("{}/{}.safetensors", folder, name)), path);
  SY_CHECK(f.op == "aten::" + name, Value, "{}: holds cases of {}", path, f.op);
  return f;
}

CaseFile CaseFile::parse(const Json& v, Safetensors storages,
                         const std::string& where) {
  check_keys(v, {"op", "schema", "cases", "repeated"}, where);
  if (v.contains("repeated")) {
    add_repeated(field(v, "repeated", Json::value_t::object, where), storages,
                 where);
  }
  CaseFile f{
      field(v, "op", Json::value_t::string, where), {}, std::move(storages)};
  std::set<std::string> ids;
  for (const Json& c : field(v, "cases", Json::value_t::array, where)) {
    f.cases.push_back(parse_case(c, where));
    SY_CHECK(ids.insert(f.cases.back().id).second, Value,
             "{}: two cases with the id {}", where, f.cases.back().id);
  }
  SY_CHECK(!f.cases.empty(), Value, "{}: no cases", where);
  return f;
}

std::vector<std::string> case_names(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") {
      out.push_back(entry.path().stem().string());
    }
  }
  SY_CHECK(!error, Value, "{}: {}", folder, error.message());
  SY_CHECK(!out.empty(), Value, "{}: no cases (NAME.json) in it", folder);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace sy::tools
