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

std::size_t FmtSource::offset(const lang::Location& place) const {
  return starts_[place.line - 1] + place.column - 1;
}

std::string FmtSource::slice(const lang::YamlNode& node) const {
  const std::size_t from = offset(node.at);
  return std::string(text_.substr(from, offset(node.end) - from));
}

std::string FmtSource::trailing(const lang::YamlNode& node) const {
  const char open = opening(node);
  const bool block = open == '|' || open == '>';
  const lang::Location& from = block ? node.at : node.end;
  const std::string_view l = line(from.line);
  const std::size_t hash = l.find(" #", from.column - 1);
  return hash == std::string_view::npos ? "" : std::string(l.substr(hash + 1));
}

std::vector<std::string_view> FmtSource::block(
    const lang::YamlNode& node) const {
  std::vector<std::string_view> out;
  for (std::size_t row = node.at.line + 1; row <= node.end.line; ++row) {
    out.push_back(line(row));
  }
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
  for (std::size_t row = node.at.line; row < node.end.line; ++row) {
    if (line(row).find(" #") != std::string_view::npos ||
        line(row).starts_with('#')) {
      return true;
    }
  }
  return false;
}

}  // namespace sy::codegen
