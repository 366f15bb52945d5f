#include "tools/sy/schema_texts.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "c10/error.h"

namespace sy::tools {

namespace {

constexpr std::string_view kFunc = "- func:", kDerivative = "derivative:",
                           kBecause = "none, because";

std::string_view trimmed(std::string_view s) {
  const size_t begin = s.find_first_not_of(" \"'");
  if (begin == s.npos) return {};
  return s.substr(begin, s.find_last_not_of(" \"'\r") - begin + 1);
}

void add_literals(std::string_view line, std::vector<std::string>* out) {
  for (const char quote : {'\'', '"'}) {
    for (size_t at = line.find(quote); at != line.npos;) {
      const size_t end = line.find(quote, at + 1);
      if (end == line.npos) break;
      const std::string text(line.substr(at + 1, end - at - 1));
      const bool plain =
          !text.empty() && text.find_first_of(" (){},'\"") == text.npos;
      if (plain && std::find(out->begin(), out->end(), text) == out->end()) {
        out->push_back(text);
      }
      at = line.find(quote, at + 1);
    }
  }
}

void read_line(std::string_view line, std::string* name, SchemaTexts* out) {
  add_literals(line, &out->literals);
  const std::string_view text = trimmed(line);
  if (text.starts_with(kFunc)) {
    const std::string_view func = trimmed(text.substr(kFunc.size()));
    *name = func.substr(0, func.find('('));
  }
  if (!text.starts_with(kDerivative)) return;
  const std::string_view value = trimmed(text.substr(kDerivative.size()));
  if (!value.starts_with(kBecause)) return;
  out->no_derivative[*name] = trimmed(value.substr(kBecause.size()));
}

}  // namespace

SchemaTexts read_schema_texts(const std::vector<std::string>& files) {
  SchemaTexts out;
  for (const std::string& file : files) {
    std::ifstream in(file);
    SY_CHECK(in.good(), Value, "cannot read {}", file);
    std::string name;
    for (std::string line; std::getline(in, line);) {
      read_line(line, &name, &out);
    }
  }
  return out;
}

}  // namespace sy::tools
