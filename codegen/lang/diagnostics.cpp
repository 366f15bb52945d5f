#include "codegen/lang/diagnostics.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "c10/schema/nearest.h"

namespace sy::lang {
namespace {

std::string_view line_of(std::string_view text, std::uint32_t number) {
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < number; ++i) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

std::string to_string(const Diagnostic& d) {
  return to_string(d.at) + ": error: " + d.message;
}

void Diagnostics::error(const Location& at, std::string message) {
  errors_.push_back({at, std::move(message)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> all = errors_;
  std::stable_sort(
      all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::make_tuple(a.at.file.view(), a.at.line, a.at.column) <
               std::make_tuple(b.at.file.view(), b.at.line, b.at.column);
      });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string Diagnostics::str() const {
  std::string out;
  for (const Diagnostic& d : sorted()) {
    if (!out.empty()) out += '\n';
    out += to_string(d);
  }
  return out;
}

std::string Diagnostics::str_with_source(std::string_view file,
                                         std::string_view text) const {
  std::string out;
  for (const Diagnostic& d : sorted()) {
    if (!out.empty()) out += '\n';
    out += to_string(d);
    if (d.at.file != file || d.at.line == 0) continue;
    const std::string_view line = line_of(text, d.at.line);
    if (line.empty()) continue;
    out += "\n  ";
    out += line;
    out += "\n  ";
    const std::size_t column = d.at.column ? d.at.column - 1 : 0;
    for (std::size_t i = 0; i < column; ++i) {
      out += i < line.size() && line[i] == '\t' ? '\t' : ' ';
    }
    out += '^';
  }
  return out;
}

std::string suggest(std::string_view name,
                    std::span<const std::string_view> names) {
  const std::string_view best = nearest_name(name, names);
  if (best.empty()) return {};
  return " (did you mean '" + std::string(best) + "'?)";
}

}  // namespace sy::lang
