#include "lang/diagnostics.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "c10/schema/nearest.h"

namespace sy::lang {
namespace {

// The lines of a text, asked for in rising order.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  std::string_view line(std::uint32_t number) {
    for (; at_ < number; ++at_) {
      const std::size_t end = text_.find('\n', begin_);
      if (end == std::string_view::npos) return {};
      begin_ = end + 1;
    }
    return text_.substr(begin_, text_.find('\n', begin_) - begin_);
  }

 private:
  std::string_view text_;
  std::uint32_t at_ = 1;
  std::size_t begin_ = 0;
};

// Columns of a line that is shown, at most.
constexpr std::size_t kShown = 110;

// The line with a caret under the character at `column`, of a long one the part
// around it.
std::string excerpt(std::string_view line, std::size_t column) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  column = std::min(column, line.size());
  const bool cut_front = column > kShown * 3 / 4 && line.size() > kShown;
  if (cut_front) {
    std::size_t begin = std::min(column - kShown / 2, line.size() - kShown);
    // The excerpt does not begin in the middle of a character of UTF-8.
    while (begin > 0 && (line[begin] & 0xc0) == 0x80) --begin;
    line.remove_prefix(begin);
    column -= begin;
  }
  const bool cut_back = line.size() > kShown;
  if (cut_back) {
    std::size_t end = kShown;
    while ((line[end] & 0xc0) == 0x80) --end;
    line = line.substr(0, end);
  }
  std::string out = "\n  ";
  if (cut_front) out += "… ";
  out += line;
  if (cut_back) out += " …";
  out += cut_front ? "\n    " : "\n  ";
  for (std::size_t i = 0; i < column; ++i) {
    if ((line[i] & 0xc0) != 0x80) out += line[i] == '\t' ? '\t' : ' ';
  }
  return out + '^';
}

}  // namespace

std::string to_string(const Diagnostic& d) {
  return fmt::format("{}: error: {}", to_string(d.at), d.message);
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

void Diagnostics::add_source(std::string_view file, std::string_view text) {
  sources_.insert_or_assign(std::string(file), std::string(text));
}

std::string Diagnostics::str_with_sources() const {
  std::string out;
  std::map<std::string_view, Lines> lines;
  for (const Diagnostic& d : sorted()) {
    if (!out.empty()) out += '\n';
    out += to_string(d);
    const auto source = sources_.find(d.at.file.view());
    if (source == sources_.end() || d.at.line == 0) continue;
    Lines& all = lines.try_emplace(source->first, source->second).first->second;
    const std::string_view line = all.line(d.at.line);
    if (line.empty()) continue;
    out += excerpt(line, d.at.column ? d.at.column - 1 : 0);
  }
  return out;
}

std::string suggest(std::string_view name,
                    std::span<const std::string_view> names) {
  std::vector<std::string_view> overloads;
  for (const std::string_view n : names) {
    if (n.size() > name.size() && n[name.size()] == '.' &&
        n.starts_with(name)) {
      overloads.push_back(n);
    }
  }
  if (!overloads.empty()) {
    std::sort(overloads.begin(), overloads.end());
    constexpr std::size_t kMost = 8;
    std::string out = " (its overloads are ";
    for (std::size_t i = 0; i < std::min(overloads.size(), kMost); ++i) {
      out += (i > 0 ? ", '" : "'") + std::string(overloads[i]) + "'";
    }
    return out + (overloads.size() > kMost ? ", …)" : ")");
  }
  const std::string_view best = nearest_name(name, names);
  if (best.empty()) return {};
  return fmt::format(" (did you mean '{}'?)", best);
}

}  // namespace sy::lang
