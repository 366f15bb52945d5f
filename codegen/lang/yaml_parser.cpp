#include <string>
#include <unordered_map>
#include <utility>

#include "codegen/lang/yaml.h"
#include "codegen/lang/yaml_cursor.h"

namespace sy::lang {
namespace {

using Kind = YamlNode::Kind;

constexpr int kMaxDepth = 100;
// Maps with more keys look for duplicates in a table.
constexpr std::size_t kManyKeys = 16;

bool is_null_word(std::string_view s) {
  return s.empty() || s == "~" || s == "null" || s == "Null" || s == "NULL";
}

bool is_flow_end(char c) { return c == ',' || c == ']' || c == '}'; }

// The keys of one map.
class Keys {
 public:
  explicit Keys(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void check(const YamlNode& map, const Text& key) {
    if (key.str() == "<<") {
      diagnostics_.error(key.start(), "merge keys are not supported");
      return;
    }
    if (map.entries.size() < kManyKeys) {
      for (const YamlNode::Entry& e : map.entries) {
        if (e.key == key) return duplicate(key, e.key.start().line);
      }
      return;
    }
    if (lines_.empty()) {
      for (const YamlNode::Entry& e : map.entries) {
        lines_.try_emplace(e.key.str(), e.key.start().line);
      }
    }
    const auto [it, inserted] = lines_.try_emplace(key.str(), key.start().line);
    if (!inserted) duplicate(key, it->second);
  }

 private:
  void duplicate(const Text& key, std::uint32_t line) {
    diagnostics_.error(key.start(), "duplicate key '" + key.str() +
                                        "'; the first is on line " +
                                        std::to_string(line));
  }

  Diagnostics& diagnostics_;
  std::unordered_map<std::string, std::uint32_t> lines_;
};

class Parser {
 public:
  Parser(YamlCursor& in, Diagnostics& diagnostics)
      : in_(in), diagnostics_(diagnostics) {}

  YamlNode document() {
    in_.skip_lines();
    if (in_.peek() == '%' && in_.column() == 0) {
      in_.fail("a YAML directive, which is not supported");
    }
    if (in_.at_marker() && in_.peek() == '-') in_.advance(3);
    YamlNode root = value(-1, false);
    in_.skip_lines();
    if (in_.at_marker() && in_.peek() == '.') {
      in_.advance(3);
      in_.skip_lines();
    }
    if (in_.at_end()) return root;
    if (!in_.at_marker()) in_.fail("expected the end, got more text");
    in_.advance(3);
    in_.skip_lines();
    in_.fail("expected one YAML document, got another after it");
  }

 private:
  struct Level {
    explicit Level(Parser& p) : parser(p) {
      if (++p.depth_ > kMaxDepth) {
        p.in_.fail("nested more than " + std::to_string(kMaxDepth) + " deep");
      }
    }
    ~Level() { --parser.depth_; }
    Parser& parser;
  };

  YamlNode node(Kind kind) const {
    YamlNode n;
    n.kind = kind;
    n.at = in_.location();
    return n;
  }

  bool at_item() const {
    return in_.peek() == '-' && YamlCursor::is_gap(in_.peek(1));
  }

  // What follows `key:`, `- ` or the beginning, in a collection indented by
  // `indent`. `in_map`: a sequence may stand below its key.
  YamlNode value(int indent, bool in_map) {
    const Level level(*this);
    YamlNode null = node(Kind::kNull);
    const bool new_line = in_.skip_lines();
    if (in_.at_end() || in_.at_marker()) return null;
    const int column = static_cast<int>(in_.column());
    if (new_line) {
      if (in_map && column == indent && at_item()) return sequence(column);
      if (column <= indent) return null;
    }
    return content(indent, new_line || !in_map);
  }

  // `block`: collections may begin here.
  YamlNode content(int indent, bool block) {
    while (properties()) {
      if (in_.at_line_end()) {
        if (in_.at_end()) return node(Kind::kNull);
        return value(indent, false);
      }
    }
    const int column = static_cast<int>(in_.column());
    const char c = in_.peek();
    if (at_item()) {
      if (!block) in_.fail("a list begins on a line of its own");
      return sequence(column);
    }
    if ((c == '?' || c == ':') && YamlCursor::is_gap(in_.peek(1))) {
      in_.fail(c == '?' ? "keys after '? ' are not supported"
                        : "expected a key before ':'");
    }
    if (c == '|' || c == '>') {
      YamlNode n = node(Kind::kScalar);
      n.plain = false;
      n.scalar = yaml_block(in_, indent);
      return n;
    }
    if (block && is_key_ahead()) return map(column);
    YamlNode n = flow_value(indent, false);
    in_.skip_inline();
    if (in_.peek() == ':') {
      in_.fail("': ' within a text; put the text in quotes");
    }
    if (!in_.at_line_end()) in_.fail("expected the end of the line");
    return n;
  }

  // Anchors, aliases and tags: reported, then passed over. True if there was
  // one.
  bool properties() {
    const char c = in_.peek();
    if (c != '&' && c != '*' && c != '!') return false;
    const std::size_t begin = in_.offset();
    while (!YamlCursor::is_gap(in_.peek())) in_.advance();
    const std::string word(in_.text().substr(begin, in_.offset() - begin));
    const Location at = in_.location(begin);
    if (c == '&') {
      diagnostics_.error(at,
                         "'&' begins a YAML anchor, which is not supported; "
                         "put the text in quotes");
    } else if (c == '*') {
      diagnostics_.error(at,
                         "'*' begins a YAML alias, which is not supported; "
                         "put the text in quotes");
    } else if (word != "!") {
      diagnostics_.error(at, "'" + word +
                                 "' is a YAML tag, which is not supported; "
                                 "put the text in quotes");
    }
    in_.skip_inline();
    return true;
  }

  // Whether `key:` begins here. The cursor stays.
  bool is_key_ahead() {
    const std::size_t before = in_.offset();
    const std::uint32_t line = in_.location().line;
    const char c = in_.peek();
    if (c == '[' || c == '{') {
      flow_value(-1, false);
    } else if (c == '"' || c == '\'') {
      yaml_quoted(in_, -1);
    } else {
      yaml_plain(in_, -1, false, true);
    }
    in_.skip_inline();
    const bool found = in_.peek() == ':' && YamlCursor::is_gap(in_.peek(1)) &&
                       in_.location().line == line;
    in_.seek(before);
    return found;
  }

  Text key() {
    const char c = in_.peek();
    const std::size_t begin = in_.offset();
    Text text;
    if (c == '[' || c == '{') {
      const Location at = in_.location();
      flow_value(-1, false);
      diagnostics_.error(at, "expected a word as the key, got something else");
      text =
          Text(std::string(in_.text().substr(begin, in_.offset() - begin)), at);
    } else if (c == '"' || c == '\'') {
      text = yaml_quoted(in_, -1);
    } else {
      refuse_mark();
      if (c == ':' && YamlCursor::is_gap(in_.peek(1))) {
        in_.fail("expected a key before ':'");
      }
      text = yaml_plain(in_, -1, false, true);
    }
    in_.skip_inline();
    if (in_.peek() != ':' || !YamlCursor::is_gap(in_.peek(1))) {
      throw YamlError{begin, "expected 'key: value'"};
    }
    in_.advance();
    return text;
  }

  YamlNode map(int indent) {
    const Level level(*this);
    YamlNode n = node(Kind::kMap);
    Keys keys(diagnostics_);
    while (true) {
      while (properties()) {
      }
      Text name = key();
      keys.check(n, name);
      YamlNode v = value(indent, true);
      n.entries.push_back({std::move(name), std::move(v)});
      if (!continues(indent)) return n;
      if (at_item()) in_.fail("expected a key, got an item of a list");
    }
  }

  YamlNode sequence(int indent) {
    const Level level(*this);
    YamlNode n = node(Kind::kSequence);
    while (true) {
      in_.advance();
      n.items.push_back(value(indent, false));
      if (!continues(indent) || !at_item()) return n;
    }
  }

  // Whether the collection goes on, on a line of its own.
  bool continues(int indent) {
    in_.skip_lines();
    if (in_.at_end() || in_.at_marker()) return false;
    const int column = static_cast<int>(in_.column());
    if (column > indent) {
      in_.fail("indented deeper than what it belongs to");
    }
    return column == indent;
  }

  // Marks that cannot begin a text without quotes.
  void refuse_mark() {
    const char c = in_.peek();
    constexpr std::string_view kMarks = ",[]{}#|>%@`";
    if (c == 0 || kMarks.find(c) == std::string_view::npos) return;
    in_.fail(std::string("'") + c +
             "' cannot begin a text; put the text in quotes");
  }

  // A value that may stand within brackets.
  YamlNode flow_value(int indent, bool flow) {
    const char c = in_.peek();
    if (c == '[') return flow_sequence();
    if (c == '{') return flow_map();
    YamlNode n = node(Kind::kScalar);
    if (c == '"' || c == '\'') {
      n.plain = false;
      n.scalar = yaml_quoted(in_, indent);
    } else {
      refuse_mark();
      n.scalar = yaml_plain(in_, indent, flow, false);
      if (is_null_word(n.str())) n.kind = Kind::kNull;
    }
    return n;
  }

  // Over white space within brackets that began at `open`.
  void skip_flow(std::size_t open) {
    in_.skip_lines();
    if (!in_.at_end() && !in_.at_marker()) return;
    throw YamlError{open,
                    std::string("'") + in_.text()[open] + "' is not closed"};
  }

  bool at_colon() const {
    const char next = in_.peek(1);
    return in_.peek() == ':' &&
           (YamlCursor::is_gap(next) || is_flow_end(next) || next == '[' ||
            next == '{');
  }

  void separator(std::size_t open, char close) {
    skip_flow(open);
    if (in_.peek() == ',') {
      in_.advance();
    } else if (in_.peek() != close) {
      in_.fail(std::string("expected ',' or '") + close + "'");
    }
  }

  YamlNode flow_sequence() {
    const Level level(*this);
    YamlNode n = node(Kind::kSequence);
    const std::size_t open = in_.offset();
    n.flow = true;
    in_.advance();
    while (true) {
      skip_flow(open);
      if (in_.peek() == ']') break;
      if (in_.peek() == ',') in_.fail("expected a value before ','");
      n.items.push_back(flow_item(open));
      separator(open, ']');
    }
    in_.advance();
    n.raw = raw(open);
    return n;
  }

  // `key: value` in a list is a map of one.
  YamlNode flow_item(std::size_t open) {
    while (properties()) skip_flow(open);
    if (is_flow_end(in_.peek())) return node(Kind::kNull);
    YamlNode item = flow_value(-1, true);
    skip_flow(open);
    if (!at_colon() || !item.is_scalar()) return item;
    in_.advance();
    YamlNode n = node(Kind::kMap);
    n.at = item.at;
    n.entries.push_back({std::move(item.scalar), flow_entry(open)});
    return n;
  }

  YamlNode flow_entry(std::size_t open) {
    skip_flow(open);
    while (properties()) skip_flow(open);
    return is_flow_end(in_.peek()) ? node(Kind::kNull) : flow_value(-1, true);
  }

  YamlNode flow_map() {
    const Level level(*this);
    YamlNode n = node(Kind::kMap);
    const std::size_t open = in_.offset();
    Keys keys(diagnostics_);
    in_.advance();
    while (true) {
      skip_flow(open);
      if (in_.peek() == '}') break;
      while (properties()) skip_flow(open);
      const Location at = in_.location();
      YamlNode key = flow_value(-1, true);
      if (!key.is_scalar()) {
        diagnostics_.error(at,
                           "expected a word as the key, got something else");
      }
      keys.check(n, key.scalar);
      skip_flow(open);
      YamlNode v = node(Kind::kNull);
      if (at_colon() || (!key.plain && in_.peek() == ':')) {
        in_.advance();
        v = flow_entry(open);
      }
      n.entries.push_back({std::move(key.scalar), std::move(v)});
      separator(open, '}');
    }
    in_.advance();
    return n;
  }

  // The text from `open` up to here.
  Text raw(std::size_t open) const {
    const std::string_view text = in_.text().substr(open, in_.offset() - open);
    Text out(std::string(text), in_.location(open));
    for (std::size_t k = text.find('\n'); k != std::string_view::npos;
         k = text.find('\n', k + 1)) {
      if (k + 1 < text.size()) out.mark(k + 1, in_.location(open + k + 1));
    }
    return out;
  }

  YamlCursor& in_;
  Diagnostics& diagnostics_;
  int depth_ = 0;
};

// Where an error stands in a text that may not even be UTF-8.
Location place(std::string_view text, std::string_view file,
               std::size_t offset) {
  Location at;
  at.file = file;
  at.line = 1;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
    if (text[i] != '\n') continue;
    ++at.line;
    begin = i + 1;
  }
  at.column = static_cast<std::uint32_t>(offset - begin + 1);
  return at;
}

}  // namespace

YamlNode parse_yaml(std::string_view text, std::string_view file,
                    Diagnostics& diagnostics) {
  diagnostics.add_source(file, text);
  try {
    YamlCursor in(text, file);
    return Parser(in, diagnostics).document();
  } catch (const YamlError& e) {
    diagnostics.error(place(text, file, e.offset), "YAML: " + e.message);
    return {};
  }
}

}  // namespace sy::lang
