#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "codegen/site/flow.h"
#include "lang/format.h"

namespace sy::codegen::site {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostCells = 10000;

[[noreturn]] void fail(const std::string& where, std::string_view expected) {
  throw std::domain_error(fmt::format("{}: expected {}", where, expected));
}

const Json& member(const Json& object, const char* key,
                   const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end()) fail(where, fmt::format("a member '{}'", key));
  return *it;
}

const Json& list(const Json& object, const char* key,
                 const std::string& where) {
  const Json& out = member(object, key, where);
  if (!out.is_array()) fail(where + "." + key, "a list");
  return out;
}

std::string text(const Json& v, const std::string& where) {
  if (!v.is_string()) fail(where, "a text");
  return v.get<std::string>();
}

bool truth(const Json& object, const char* key, const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end()) return false;
  if (!it->is_boolean()) fail(where + "." + key, "a bool");
  return it->get<bool>();
}

// Reads a list of numbers in [0, below).
std::vector<std::int64_t> numbers(const Json& v, std::int64_t below,
                                  const std::string& where) {
  std::vector<std::int64_t> out;
  if (!v.is_array()) fail(where, "a list");
  for (const Json& n : v) {
    const bool good = n.is_number_integer() && n >= 0 && n < below;
    if (!good) fail(where, fmt::format("numbers in [0, {})", below));
    out.push_back(n.get<std::int64_t>());
  }
  return out;
}

// Adds its cells to `count`.
Flow::Grid grid(const Json& v, const std::string& where, std::int64_t* count) {
  if (!v.is_object()) fail(where, "an object");
  Flow::Grid out;
  out.name = text(member(v, "name", where), where + ".name");
  out.sizes = numbers(list(v, "sizes", where), kMostCells, where + ".sizes");
  if (out.sizes.size() > 8) fail(where + ".sizes", "at most 8 dims");
  std::int64_t cells = 1;
  for (const std::int64_t n : out.sizes) {
    cells *= n;
    if (cells > kMostCells) fail(where + ".sizes", "a small tensor");
  }
  if (v.contains("texts")) {
    for (const Json& t : list(v, "texts", where)) {
      out.texts.push_back(text(t, where + ".texts"));
    }
  }
  out.is_plain = truth(v, "plain", where);
  *count += cells;
  return out;
}

std::vector<Flow::Grid> grids(const Json& json, const char* key,
                              std::int64_t* count) {
  std::vector<Flow::Grid> out;
  const Json& all = list(json, key, "flow");
  for (std::size_t k = 0; k < all.size(); ++k) {
    out.push_back(grid(all[k], fmt::format("{}[{}]", key, k), count));
  }
  if (out.empty()) fail(key, "at least one tensor");
  return out;
}

Flow read(const Json& json) {
  if (!json.is_object()) fail("flow", "an object");
  Flow out;
  out.call = text(member(json, "call", "flow"), "call");
  out.moves = truth(json, "moves", "flow");
  std::int64_t inputs = 0, outputs = 0;
  out.inputs = grids(json, "inputs", &inputs);
  out.outputs = grids(json, "outputs", &outputs);
  const Json& from = list(json, "from", "flow");
  if (static_cast<std::int64_t>(from.size()) != outputs) {
    fail("from", fmt::format("{} lists", outputs));
  }
  for (std::size_t k = 0; k < from.size(); ++k) {
    out.from.emplace_back();
    for (const auto n : numbers(from[k], inputs, fmt::format("from[{}]", k))) {
      out.from.back().push_back(static_cast<int>(n));
    }
  }
  return out;
}

}  // namespace

std::optional<Flow> read_flow(const Json& json, std::string* error) {
  try {
    return read(json);
  } catch (const std::domain_error& e) {
    if (error != nullptr) *error = e.what();
    return std::nullopt;
  }
}

}  // namespace sy::codegen::site
