#include "lang/yaml_tree.h"

#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/mark.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace sy::lang {
namespace {

using Kind = YamlNode::Kind;

// Maps with more keys look for duplicates in a table.
constexpr std::size_t kManyKeys = 16;

bool is_null_word(std::string_view text) {
  return text.starts_with("null") || text.starts_with("Null") ||
         text.starts_with("NULL");
}

bool is_null(std::string_view s) {
  return s.empty() || s == "~" || (s.size() == 4 && is_null_word(s));
}

}  // namespace

void YamlKeys::check(const YamlNode& map, const Text& key,
                     Diagnostics& diagnostics) {
  if (key.str() == "<<") {
    return diagnostics.error(key.start(), "merge keys are not supported");
  }
  std::uint32_t line = 0;  // of the first
  if (map.entries.size() < kManyKeys) {
    for (const YamlNode::Entry& e : map.entries) {
      if (line == 0 && e.key == key) line = e.key.start().line;
    }
  } else {
    if (lines_.empty()) {
      for (const YamlNode::Entry& e : map.entries) {
        lines_.try_emplace(e.key.str(), e.key.start().line);
      }
    }
    const auto [it, inserted] = lines_.try_emplace(key.str(), key.start().line);
    if (!inserted) line = it->second;
  }
  if (line == 0) return;
  diagnostics.error(key.start(), "duplicate key '" + key.str() +
                                     "'; the first is on line " +
                                     std::to_string(line));
}

YamlNode YamlTree::finish() {
  const std::size_t end = source_.text().size();
  gap_.walk(end, false);
  if (source_.is_marker(gap_.at)) {
    gap_.seek(gap_.at, 3);
    gap_.walk(end, false);
  }
  if (gap_.at < end) throw more_text();
  if (documents_ == 0) root_.at = root_.end = source_.location(end);
  return std::move(root_);
}

void YamlTree::walk(const YAML::Mark& mark) {
  const std::size_t offset = source_.offset(mark.pos);
  gap_.walk(offset, in_flow());
  gap_.at = std::max(gap_.at, offset);
}

// Moves to the first character of a node. `is_list`: the node is a block list,
// which may stand below its key.
void YamlTree::enter(const YAML::Mark& mark, bool is_list) {
  walk(mark);
  gap_.content();
  const std::size_t at = gap_.at;
  if (documents_ > 1) throw more_text();
  const bool below = is_list && at_value() && open_.back().node.is_map() &&
                     source_.column(at) == indent();
  if (is_outside() && !below) throw misplaced(at);
}

YamlError YamlTree::more_text() const {
  return {gap_.at, another_ ? "expected one YAML document, got another after it"
                   : gap_.new_line ? "expected the end, got more text"
                                   : "expected the end of the line"};
}

// The error of a node that yaml-cpp takes for part of a list or map, or cannot
// take.
YamlError YamlTree::misplaced(std::size_t at) const {
  const int column = source_.column(at);
  for (auto o = open_.rbegin(); o != open_.rend(); ++o) {
    if (o->column < column) {
      return {at, "indented deeper than what it belongs to"};
    }
    if (o->column == column && o->node.is_map()) {
      const bool item = source_.at(at) == '-' && yaml_gap(source_.at(at + 1));
      return {at, item ? "expected a key, got an item of a list"
                       : "expected 'key: value'"};
    }
  }
  return {at, "expected the end, got more text"};
}

void YamlTree::OnDocumentStart(const YAML::Mark& mark) {
  walk(mark);
  const bool marked = source_.is_marker(gap_.at) && source_.at(gap_.at) == '-';
  if (marked) gap_.seek(gap_.at, 3);
  another_ = ++documents_ > 1 && marked;
}

// Whether what stands here is not indented deeply enough for a value.
bool YamlTree::is_outside() const {
  return gap_.new_line && at_value() && !in_flow() &&
         source_.column(gap_.at) <= indent();
}

void YamlTree::OnNull(const YAML::Mark& mark, YAML::anchor_t) {
  walk(mark);
  gap_.properties();
  if (documents_ > 1) throw more_text();
  const std::size_t at = gap_.at;
  const std::string_view rest = source_.text().substr(at);
  const std::size_t n = rest.starts_with('~') ? 1 : is_null_word(rest) ? 4 : 0;
  if (n == 0) return left_out();
  if (is_outside()) {
    // This tells a key that begins with such a word from a value.
    const char c = source_.at(source_.skip_blanks(at + n));
    if (c == '\n' || c == 0 || c == '#') throw misplaced(at);
    return left_out();
  }
  YamlNode node;
  node.at = source_.location(at);
  node.end = source_.location(at + n);
  node.scalar = Text(std::string(rest.substr(0, n)), node.at);
  gap_.seek(at + n);
  add(std::move(node), at);
}

void YamlTree::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  OnNull(mark, anchor);
}

void YamlTree::OnScalar(const YAML::Mark& mark, const std::string& tag,
                        YAML::anchor_t, const std::string& value) {
  // A tag makes a text of nothing; the tag of a text in quotes is "!".
  if (value.empty() && tag != "!") {
    walk(mark);
    gap_.properties();
    return left_out();
  }
  enter(mark);
  const std::size_t begin = gap_.at;
  const char c = source_.at(begin);
  YamlNode node;
  node.kind = Kind::kScalar;
  node.plain = c != '"' && c != '\'' && c != '|' && c != '>';
  PlacedText placed =
      place_scalar(source_, begin, value, at_key() ? -1 : indent());
  node.at = source_.location(begin);
  node.end = source_.location(placed.end);
  node.scalar = std::move(placed.text);
  if (node.plain && is_null(node.str())) node.kind = Kind::kNull;
  gap_.seek(placed.end);
  add(std::move(node), begin);
}

void YamlTree::OnSequenceStart(const YAML::Mark& mark, const std::string&,
                               YAML::anchor_t,
                               YAML::EmitterStyle::value style) {
  const bool flow = style == YAML::EmitterStyle::Flow;
  enter(mark, !flow);
  begin(Kind::kSequence, flow);
}

void YamlTree::OnMapStart(const YAML::Mark& mark, const std::string&,
                          YAML::anchor_t, YAML::EmitterStyle::value style) {
  enter(mark);
  if (style == YAML::EmitterStyle::Default) {
    throw YamlError{gap_.at, "expected a key before ':'"};
  }
  begin(Kind::kMap, style == YAML::EmitterStyle::Flow);
}

void YamlTree::begin(Kind kind, bool flow) {
  const std::size_t at = gap_.at;
  if (open_.size() == kMaxYamlDepth) throw yaml_too_deep(at);
  YamlOpen& o = open_.emplace_back();
  o.node.kind = kind;
  o.node.at = o.node.end = source_.location(at);
  o.node.flow = flow && kind == Kind::kSequence;
  o.begin = at;
  o.flow = flow;
  const char opens = kind == Kind::kSequence ? '[' : '{';
  o.bracket = flow && source_.at(at) == opens;
  if (!flow) o.column = source_.column(at);
  if (o.bracket) gap_.seek(at, 1);
}

void YamlTree::OnSequenceEnd() { end(']'); }
void YamlTree::OnMapEnd() { end('}'); }

void YamlTree::end(char close) {
  YamlOpen o = std::move(open_.back());
  open_.pop_back();
  if (o.bracket) {
    gap_.walk(source_.text().size(), true);
    if (source_.at(gap_.at) == close) gap_.seek(gap_.at + 1);
    o.node.end = source_.location(gap_.at);
    if (o.node.is_sequence()) o.node.raw = raw(o.begin);
  }
  add(std::move(o.node), o.begin);
}

// The text from `begin` up to here.
Text YamlTree::raw(std::size_t begin) const {
  const auto text = source_.text().substr(begin, gap_.at - begin);
  Text out(std::string(text), source_.location(begin));
  for (std::size_t k = text.find('\n'); k != std::string_view::npos;
       k = text.find('\n', k + 1)) {
    if (k + 1 < text.size()) {
      out.mark(k + 1, source_.location(begin + k + 1));
    }
  }
  return out;
}

// A value, or a key, that is not there.
void YamlTree::left_out() {
  const std::size_t at = gap_.at;
  const char c = source_.at(at);
  const bool in_list = !open_.empty() && open_.back().node.is_sequence();
  if (at_key() && !in_flow()) throw YamlError{at, "expected a key before ':'"};
  if (c == ',' && !gap_.property) {
    if (in_flow() && in_list) {
      throw YamlError{at, "expected a value before ','"};
    }
    if (!in_flow() || at_key()) throw yaml_cannot_begin(c, at);
  }
  if (at_key() && c != ':' && c != '}') throw yaml_bad_key(at);
  YamlNode node;
  node.at = node.end = source_.location(in_flow() ? at : gap_.behind);
  add(std::move(node), at);
}

void YamlTree::add(YamlNode node, std::size_t begin) {
  if (open_.empty()) {
    root_ = std::move(node);
    return;
  }
  YamlOpen& o = open_.back();
  if (o.node.is_sequence()) {
    o.node.items.push_back(std::move(node));
  } else if (!o.has_key) {
    add_key(std::move(node), begin);
  } else {
    o.node.entries.push_back({std::move(o.key), std::move(node)});
    o.has_key = false;
  }
}

void YamlTree::add_key(YamlNode node, std::size_t begin) {
  YamlOpen& o = open_.back();
  // `null` in a block is a key as others are.
  if (!node.is_scalar() && (o.flow || node.scalar.empty())) {
    diagnostics_.error(node.at,
                       "expected a word as the key, got something else");
    if (node.scalar.empty()) node.scalar = raw(begin);
  }
  o.keys.check(o.node, node.scalar, diagnostics_);
  o.key = std::move(node.scalar);
  o.has_key = true;
  if (o.flow) return;
  const std::size_t colon = source_.skip_blanks(gap_.at);
  if (source_.at(colon) != ':' || !yaml_gap(source_.at(colon + 1))) {
    throw YamlError{begin, "expected 'key: value'"};
  }
  gap_.seek(colon, 1);
}

}  // namespace sy::lang
