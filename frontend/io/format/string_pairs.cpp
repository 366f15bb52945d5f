#include "frontend/io/format/string_pairs.h"

#include <algorithm>

#include "frontend/io/format/file_view.h"
#include "frontend/io/format/json.h"

namespace sy::io {

const std::string* repeated(std::vector<const std::string*> names) {
  const auto less = [](const auto* a, const auto* b) { return *a < *b; };
  const auto equal = [](const auto* a, const auto* b) { return *a == *b; };
  std::sort(names.begin(), names.end(), less);
  const auto at = std::adjacent_find(names.begin(), names.end(), equal);
  return at == names.end() ? nullptr : *at;
}

const std::string* repeated(const StringPairs& pairs) {
  std::vector<const std::string*> names;
  names.reserve(pairs.size());
  for (const auto& [name, value] : pairs) names.push_back(&name);
  return repeated(std::move(names));
}

void append_json_object(std::string& out, const StringPairs& pairs,
                        std::string_view op, const char* what) {
  const std::string* const twice = repeated(pairs);
  SY_CHECK(twice == nullptr, Value,
           "[{}] {}: expected each name once, got {} twice", op, what,
           in_quotes(*twice));
  out += '{';
  for (const auto& [name, value] : pairs) {
    if (out.back() != '{') out += ',';
    const bool utf8 =
        append_json_string(out, name) && append_json_string(out += ':', value);
    SY_CHECK(utf8, Value, "[{}] {}: expected UTF-8, got {} with {}", op, what,
             in_quotes(name), in_quotes(value));
  }
  out += '}';
}

}  // namespace sy::io
