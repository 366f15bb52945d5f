#include "tools/sy/case_file.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "c10/error.h"

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
  const std::string where = file + ": " + c.id;
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

}  // namespace

CaseFile CaseFile::load(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name + ".json";
  CaseFile f =
      parse(parse_json(read_file(path), path),
            Safetensors::load(folder + "/" + name + ".safetensors"), path);
  SY_CHECK(f.op == "aten::" + name, Value, "{}: holds cases of {}", path, f.op);
  return f;
}

CaseFile CaseFile::parse(const Json& v, Safetensors storages,
                         const std::string& where) {
  check_keys(v, {"op", "schema", "cases"}, where);
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

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
         fnmatch(pattern.c_str(), ("aten::" + name).c_str(), 0) == 0;
}

}  // namespace sy::tools
