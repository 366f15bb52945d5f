#include "codegen/tools/fmt_source.h"

#include <algorithm>

namespace sy::codegen {
namespace {

std::string_view trimmed_end(std::string_view s) {
  while (!s.empty() &&
         (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) {
    s.remove_suffix(1);
  }
  return s;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::string without_space(std::string_view s) {
  std::string out;
  for (const char c : s) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') out += c;
  }
  return out;
}

}  // namespace

FmtSource::FmtSource(std::string_view text, const lang::YamlNode& root)
    : text_(text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    starts_.push_back(at);
    lines_.push_back(trimmed_end(text.substr(at, end - at)));
    at = end + 1;
  }
  in_block_.assign(lines_.size() + 2, false);
  for (const lang::YamlNode& item : root.items) {
    entries_.push_back(item.at.line);
  }
  walk(root);
  std::sort(nodes_.begin(), nodes_.end());
  attach();
}

std::string_view FmtSource::line(std::size_t number) const {
  return number >= 1 && number <= lines_.size() ? lines_[number - 1]
                                                : std::string_view();
}

char FmtSource::at(const lang::Location& place) const {
  const std::string_view l = line(place.line);
  return place.column >= 1 && place.column <= l.size() ? l[place.column - 1]
                                                       : '\0';
}

char FmtSource::opening(const lang::YamlNode& node) const {
  const char c = at(node.at);
  switch (c) {
    case '{':
    case '[': return node.is_scalar() ? '\0' : c;
    case '|':
    case '>':
    case '\'':
    case '"': return node.is_scalar() && !node.plain ? c : '\0';
    default: return '\0';
  }
}

FmtSource::End FmtSource::end(const lang::YamlNode& node) const {
  const char open = opening(node);
  std::size_t row = node.at.line;
  std::size_t column = node.at.column - 1;
  if (open == '|' || open == '>') {
    const std::size_t last = row + block(node).size();
    return {last, line(last).size()};
  }
  if (open == 0) {
    if (!node.is_scalar()) return {row, column};
    // A plain text may go on over lines.
    const std::string whole = without_space(node.str());
    std::string seen;
    for (; row <= lines_.size(); ++row, column = 0) {
      const std::string_view rest =
          line(row).substr(std::min(column, line(row).size()));
      for (std::size_t i = 0; i <= rest.size(); ++i) {
        if (seen == whole) return {row, column + i};
        if (i < rest.size() && rest[i] != ' ' && rest[i] != '\t') {
          seen += rest[i];
        }
      }
    }
    return {lines_.size(), line(lines_.size()).size()};
  }
  int depth = 0;
  char quote = 0;
  for (; row <= lines_.size(); ++row, column = 0) {
    const std::string_view l = line(row);
    for (; column < l.size(); ++column) {
      const char c = l[column];
      if (quote) {
        if (quote == '"' && c == '\\') {
          ++column;
        } else if (c == quote) {
          if (quote == '\'' && column + 1 < l.size() && l[column + 1] == c) {
            ++column;
            continue;
          }
          quote = 0;
          if (depth == 0) return {row, column + 1};
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '#' && (column == 0 || l[column - 1] == ' ')) {
        break;
      } else if (c == '[' || c == '{' || c == '(') {
        ++depth;
      } else if ((c == ']' || c == '}' || c == ')') && --depth == 0) {
        return {row, column + 1};
      }
    }
  }
  return {lines_.size(), line(lines_.size()).size()};
}

std::string FmtSource::slice(const lang::YamlNode& node) const {
  const End e = end(node);
  const std::size_t from = starts_[node.at.line - 1] + node.at.column - 1;
  return std::string(text_.substr(from, starts_[e.line - 1] + e.column - from));
}

std::string FmtSource::trailing(const lang::YamlNode& node) const {
  const char open = opening(node);
  const bool block = open == '|' || open == '>';
  const std::size_t row = block ? node.at.line : end(node).line;
  const std::string_view l = line(row);
  const std::size_t from = block ? node.at.column : end(node).column;
  if (from >= l.size()) return {};
  const std::size_t hash = l.find(" #", from);
  return hash == std::string_view::npos ? "" : std::string(l.substr(hash + 1));
}

std::vector<std::string_view> FmtSource::block(
    const lang::YamlNode& node) const {
  std::vector<std::string_view> out;
  std::size_t indent = 0;
  std::size_t used = 0;
  for (std::size_t row = node.at.line + 1; row <= lines_.size(); ++row) {
    const std::string_view l = line(row);
    if (!l.empty()) {
      if (used == 0) indent = indent_of(l);
      if (indent == 0 || indent_of(l) < indent) break;
      used = out.size() + 1;
    }
    out.push_back(l);
  }
  out.resize(used);
  return out;
}

void FmtSource::walk(const lang::YamlNode& node) {
  if (node.is_scalar()) {
    const char open = opening(node);
    if (open == '|' || open == '>') {
      const std::size_t n = block(node).size();
      for (std::size_t i = 1; i <= n; ++i) in_block_[node.at.line + i] = true;
    }
    return;
  }
  for (const lang::YamlNode& item : node.items) {
    nodes_.push_back(item.at.line);
    walk(item);
  }
  for (const lang::YamlNode::Entry& entry : node.entries) {
    nodes_.push_back(entry.key.start().line);
    walk(entry.value);
  }
}

void FmtSource::attach() {
  bool gap = false;
  for (std::size_t row = 1; row <= lines_.size(); ++row) {
    const std::string_view l = line(row);
    if (l.empty()) {
      gap = true;
      continue;
    }
    const std::size_t indent = indent_of(l);
    if (in_block_[row] || l[indent] != '#') {
      gap = false;
      continue;
    }
    Comment c{std::string(l.substr(indent)), row, indent > 0, gap};
    gap = false;
    const auto next = std::upper_bound(nodes_.begin(), nodes_.end(), row);
    const auto entry = std::upper_bound(entries_.begin(), entries_.end(), row);
    const bool ends_entry =
        (next == nodes_.end() ||
         std::binary_search(entries_.begin(), entries_.end(), *next)) &&
        entry != entries_.begin();
    if (ends_entry && c.indented) {
      behind_[*std::prev(entry)].push_back(std::move(c));
    } else if (next == nodes_.end()) {
      at_end_.push_back(std::move(c));
    } else {
      before_[*next].push_back(std::move(c));
    }
  }
}

std::vector<Comment> FmtSource::before(std::size_t line) const {
  const auto it = before_.find(line);
  return it == before_.end() ? std::vector<Comment>() : it->second;
}

std::vector<Comment> FmtSource::behind_entry(std::size_t line) const {
  const auto it = behind_.find(line);
  return it == behind_.end() ? std::vector<Comment>() : it->second;
}

std::vector<std::string> FmtSource::all_comments() const {
  std::vector<std::string> out;
  for (std::size_t row = 1; row <= lines_.size(); ++row) {
    const std::string_view l = line(row);
    if (l.empty() || in_block_[row]) continue;
    // A '#' within quotes is the same before and after.
    const std::size_t indent = indent_of(l);
    const std::size_t hash = l[indent] == '#' ? indent : l.find(" #");
    if (hash == std::string_view::npos) continue;
    out.emplace_back(l.substr(l.find('#', hash)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool FmtSource::has_comment_within(const lang::YamlNode& node) const {
  const End e = end(node);
  for (std::size_t row = node.at.line; row < e.line; ++row) {
    if (line(row).find(" #") != std::string_view::npos ||
        line(row).starts_with('#')) {
      return true;
    }
  }
  return false;
}

}  // namespace sy::codegen
