#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "lang/yaml_tree.h"

// yaml-cpp says of most errors that something is "illegal" or "not found", and
// of some that the end of the file is. The text there tells more.

namespace sy::lang {
namespace {

namespace msg = YAML::ErrorMsg;

constexpr const char* kAfterBlock =
    "expected the end of the line after '|' or '>'; put a text that begins so "
    "in quotes";

// An error that does not depend on the text. `back`: bytes to the place from
// the mark.
struct Known {
  const char* theirs;
  const char* ours;
  int back = 0;
};

const Known kKnown[] = {
    {msg::CHAR_IN_BLOCK, kAfterBlock},
    {msg::ZERO_INDENT_IN_BLOCK, kAfterBlock, 1},
    {msg::DOC_IN_SCALAR, "a line of a text in quotes that is not indented"},
    {msg::INVALID_ESCAPE, "an unknown escape after '\\'", 1},
    {msg::INVALID_UNICODE, "an escape that is no character of Unicode"},
    {msg::MAP_KEY, "keys after '? ' are not supported"},
    {msg::TAB_IN_INDENTATION, "a tab in the indentation; use spaces"}};

// The first quote from `at` on, in texts that yaml-cpp has read but not told
// of, that is not closed.
std::size_t open_quote(std::string_view text, std::size_t at) {
  while ((at = text.find_first_of("\"'", at)) < text.size()) {
    const std::size_t open = at++;
    if (open > 0 && !yaml_gap(text[open - 1]) &&
        !yaml_flow_mark(text[open - 1])) {
      continue;
    }
    const char* const marks = text[open] == '"' ? "\"\\" : "'";
    while ((at = text.find_first_of(marks, at)) < text.size() &&
           (text[at] == '\\' || text.substr(at, 2) == "''")) {
      at += 2;
    }
    if (at >= text.size()) return open;
    ++at;
  }
  return text.size();
}

}  // namespace

YamlError YamlTree::explain(const YAML::Exception& e) {
  const std::string_view m = e.msg;
  const std::string_view text = source_.text();
  const std::size_t mark = source_.offset(e.mark.pos);
  const auto says = [&](std::string_view word) {
    return m.find(word) != std::string_view::npos;
  };
  if (says("irective") || says("version")) {
    return {mark, "a YAML directive, which is not supported"};
  }
  if (says("anchor") || says("alias") || says("tag")) {
    const std::size_t at = std::min(text.find_last_of("&*!", mark), mark);
    gap_.walk(at, in_flow());
    return {at, yaml_property_error(source_, at)};
  }
  gap_.walk(mark, in_flow());
  if (ended_) return more_text();
  for (const Known& k : kKnown) {
    if (m.starts_with(k.theirs))
      return {source_.offset(e.mark.pos - k.back), k.ours};
  }
  if (m == msg::BAD_FILE) return yaml_too_deep(mark);  // never: we are sooner
  if (m == msg::INVALID_HEX) {
    const std::size_t slash = text.rfind('\\', mark - std::min(mark, 4ul));
    const std::size_t bad =
        text.find_first_not_of("0123456789abcdefABCDEF", slash + 2);
    return {std::min(bad, text.size()),
            std::string("expected more hexadecimal digits after '\\") +
                source_.at(slash + 1) + "'"};
  }
  if (m == msg::EOF_IN_SCALAR) {
    return {open_quote(text, gap_.at), "the quotes are not closed"};
  }
  if (m == msg::MAP_VALUE) return explain_colon(mark);
  if (m == msg::BLOCK_ENTRY || m == msg::FLOW_END || m == msg::UNKNOWN_TOKEN) {
    return explain_character(mark);
  }
  if (m == msg::END_OF_MAP_FLOW || m == msg::END_OF_SEQ_FLOW) {
    return explain_brackets(mark);
  }
  if (m != msg::END_OF_MAP && m != msg::END_OF_SEQ) return {mark, e.msg};
  gap_.properties();
  return gap_.new_line ? misplaced(gap_.at) : more_text();
}

// A ':' that ends no key.
YamlError YamlTree::explain_colon(std::size_t mark) const {
  constexpr std::size_t kMaxKey = 1024;
  const std::size_t here = gap_.at;
  if (here >= mark && (gap_.indicator || gap_.new_line)) {
    return {mark, "expected a key before ':'"};
  }
  // yaml-cpp takes no key behind a tab.
  const std::string_view text = source_.text();
  const std::size_t line =
      mark - static_cast<std::size_t>(source_.column(mark));
  const std::size_t tab = text.find('\t', line);
  if (tab < text.find_first_not_of("- \t", line)) {
    return {tab, "a tab in the indentation; use spaces"};
  }
  if (line <= here && here + kMaxKey < mark) return yaml_bad_key(here);
  if (here < line && gap_.new_line && !open_.empty() &&
      open_.back().node.is_map() && source_.column(here) == indent()) {
    return {here, "expected 'key: value'"};
  }
  return {mark, "': ' within a text; put the text in quotes"};
}

// A character that may not stand where it does.
YamlError YamlTree::explain_character(std::size_t mark) const {
  const std::size_t here = gap_.at;
  const char c = source_.at(mark);
  const bool begins = here >= mark && (gap_.indicator || gap_.new_line);
  // A list or map that could have become a key is not told of.
  if (in_flow() || (here < mark && yaml_flow_mark(source_.at(here)))) {
    if (c == ']' || c == '}') {
      return {mark,
              std::string("expected ',' or '") + (c == ']' ? '}' : ']') + "'"};
    }
    return c == '?' || (here >= mark && !begins) ? explain_brackets(mark)
                                                 : yaml_cannot_begin(c, mark);
  }
  if (!begins) return {mark, "expected the end of the line"};
  return c == '-' ? YamlError{mark, "a list begins on a line of its own"}
                  : yaml_cannot_begin(c, mark);
}

YamlError YamlTree::explain_brackets(std::size_t mark) const {
  const std::size_t here = gap_.at;
  const auto open = std::find_if(open_.rbegin(), open_.rend(),
                                 [](const YamlOpen& o) { return o.bracket; });
  if (source_.at(mark) == '?') {
    return {mark, "'?' within brackets; put the text in quotes"};
  }
  if (open == open_.rend()) return {here, "expected a closing bracket"};
  if (source_.at(here) == 0 || source_.is_marker(here)) {
    return {open->begin,
            std::string("'") + source_.at(open->begin) + "' is not closed"};
  }
  const char close = open->node.is_sequence() ? ']' : '}';
  return {here, std::string("expected ',' or '") + close + "'"};
}

}  // namespace sy::lang
