#include "codegen/lang/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

namespace sy::lang {
namespace {

// Byte offsets of a file as lines and columns.
class Source {
 public:
  Source(std::string_view text, std::string_view file)
      : text_(text), file_(file), lines_{0} {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') lines_.push_back(i + 1);
    }
  }

  Location at(std::size_t offset) const {
    const auto next = std::upper_bound(lines_.begin(), lines_.end(), offset);
    const auto line = static_cast<std::size_t>(next - lines_.begin());
    return place(line, offset - lines_[line - 1] + 1);
  }
  Location at(const YAML::Mark& mark) const {
    return place(static_cast<std::size_t>(mark.line) + 1,
                 static_cast<std::size_t>(mark.column) + 1);
  }
  std::size_t offset(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(mark.line);
    if (line >= lines_.size()) return text_.size();
    return std::min(text_.size(),
                    lines_[line] + static_cast<std::size_t>(mark.column));
  }

  Text scalar(const std::string& value, const YAML::Mark& mark) const;
  // Whether the quote at `mark` is closed; yaml-cpp takes the end of the file
  // for one.
  bool is_closed(const YAML::Mark& mark) const;
  Text brackets(const YAML::Mark& mark) const;

 private:
  Location place(std::size_t line, std::size_t column) const {
    Location l;
    l.file = file_;
    l.line = static_cast<std::uint32_t>(line);
    l.column = static_cast<std::uint32_t>(column);
    return l;
  }

  std::size_t escape_end(std::size_t s) const {
    const char c = s + 1 < text_.size() ? text_[s + 1] : ' ';
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    return s + 2 + digits;
  }

  std::string_view text_;
  InternedString file_;
  std::vector<std::size_t> lines_;
};

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Walks along the value and the source together: what YAML changed between
// them is white space, escapes and the marks of quotes and blocks.
Text Source::scalar(const std::string& value, const YAML::Mark& mark) const {
  std::size_t s = offset(mark);
  if (text_.substr(s, value.size()) == value) return Text(value, at(mark));
  Text out(value, at(mark));
  const char quote = s < text_.size() ? text_[s] : ' ';
  if (quote == '|' || quote == '>') {
    s = text_.find('\n', s);
  } else if (quote == '"' || quote == '\'') {
    ++s;
  }
  std::size_t expected = text_.size() + 1;  // where an unmarked character is
  for (std::size_t i = 0; i < value.size() && s < text_.size(); ++i) {
    if (is_space(value[i])) {
      if (s < text_.size() && is_space(text_[s])) ++s;
      ++expected;
      continue;
    }
    while (s < text_.size() && is_space(text_[s])) ++s;
    if (s >= text_.size()) break;
    if (s != expected) out.mark(i, at(s));
    expected = s + 1;
    if (text_[s] == value[i] && text_[s] != '\\') {
      s += quote == '\'' && value[i] == '\'' ? 2 : 1;
    } else if (quote == '"' && text_[s] == '\\') {
      s = escape_end(s);
    } else if (text_[s] == value[i]) {
      ++s;
    } else {
      break;
    }
  }
  return out;
}

bool Source::is_closed(const YAML::Mark& mark) const {
  const std::size_t begin = offset(mark);
  const char quote = begin < text_.size() ? text_[begin] : ' ';
  if (quote != '"' && quote != '\'') return true;
  for (std::size_t i = begin + 1; i < text_.size(); ++i) {
    if (quote == '"' && text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      if (quote == '"' || i + 1 == text_.size() || text_[i + 1] != quote) {
        return true;
      }
      ++i;
    }
  }
  return false;
}

// From the bracket at `mark` to the one that closes it.
Text Source::brackets(const YAML::Mark& mark) const {
  const std::size_t begin = offset(mark);
  int depth = 0;
  char quote = 0;
  for (std::size_t i = begin; i < text_.size(); ++i) {
    const char c = text_[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == ')' || c == '}') && --depth == 0) {
      const auto raw = text_.substr(begin, i + 1 - begin);
      Text out(std::string(raw), at(begin));
      for (std::size_t k = 0; k < raw.size(); ++k) {
        if (raw[k] == '\n' && k + 1 < raw.size()) {
          out.mark(k + 1, at(begin + k + 1));
        }
      }
      return out;
    }
  }
  return {};
}

// Builds the tree from yaml-cpp's events.
class Builder : public YAML::EventHandler {
 public:
  Builder(const Source& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  YamlNode root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(node(YamlNode::Kind::kNull, mark));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    diagnostics_.error(source_.at(mark),
                       "'*' begins a YAML alias, which is not supported; put "
                       "the text in quotes");
    add(node(YamlNode::Kind::kNull, mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode scalar = node(YamlNode::Kind::kScalar, mark);
    scalar.plain = tag != "!";
    if (!scalar.plain && !source_.is_closed(mark)) {
      diagnostics_.error(source_.at(mark), "the quote is never closed");
    }
    scalar.scalar = source_.scalar(value, mark);
    add(std::move(scalar));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode sequence = node(YamlNode::Kind::kSequence, mark);
    sequence.flow = style == YAML::EmitterStyle::Flow;
    if (sequence.flow) sequence.raw = source_.brackets(mark);
    open_.push_back({std::move(sequence), std::nullopt});
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    open_.push_back({node(YamlNode::Kind::kMap, mark), std::nullopt});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    std::optional<Text> key;
  };

  YamlNode node(YamlNode::Kind kind, const YAML::Mark& mark) const {
    YamlNode node;
    node.kind = kind;
    node.at = source_.at(mark);
    return node;
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == 0) return;
    diagnostics_.error(source_.at(mark),
                       "'&' begins a YAML anchor, which is not supported; put "
                       "the text in quotes");
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    diagnostics_.error(source_.at(mark),
                       "'" + tag +
                           "' is a YAML tag, which is not supported; "
                           "put the text in quotes");
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_sequence()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      key(parent, node);
    } else {
      parent.node.entries.push_back({std::move(*parent.key), std::move(node)});
      parent.key.reset();
    }
  }

  void key(Open& parent, YamlNode& node) {
    if (!node.is_scalar()) {
      diagnostics_.error(node.at,
                         "expected a word as the key, got something "
                         "else");
    } else if (node.str() == "<<") {
      diagnostics_.error(node.at, "merge keys are not supported");
    } else if (const auto* first = entry(parent.node, node.str())) {
      diagnostics_.error(node.at, "duplicate key '" + node.str() +
                                      "'; the first is on "
                                      "line " +
                                      std::to_string(first->key.start().line));
    }
    parent.key = std::move(node.scalar);
  }

  static const YamlNode::Entry* entry(const YamlNode& map,
                                      std::string_view key) {
    for (const YamlNode::Entry& e : map.entries) {
      if (e.key.str() == key) return &e;
    }
    return nullptr;
  }

  const Source& source_;
  Diagnostics& diagnostics_;
  std::vector<Open> open_;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const Entry& e : entries) {
    if (e.key.str() == key) return &e.value;
  }
  return nullptr;
}

YamlNode parse_yaml(std::string_view text, std::string_view file,
                    Diagnostics& diagnostics) {
  diagnostics.add_source(file, text);
  const Source source(text, file);
  Builder builder(source, diagnostics);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    const Location end = builder.root.at;
    Builder rest(source, diagnostics);
    if (parser.HandleNextDocument(rest)) {
      diagnostics.error(rest.root.at.line ? rest.root.at : end,
                        "expected one YAML document, got another after it");
    }
  } catch (const YAML::Exception& e) {
    diagnostics.error(source.at(e.mark), "YAML: " + e.msg);
    return {};
  }
  return std::move(builder.root);
}

std::string read_file(const std::string& path, Diagnostics& diagnostics) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    Location at;
    at.file = std::string_view(path);
    diagnostics.error(at, "the file cannot be read");
    return {};
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_keys(const YamlNode& map, std::string_view what,
                std::span<const std::string_view> known,
                Diagnostics& diagnostics) {
  for (const YamlNode::Entry& e : map.entries) {
    const std::string& key = e.key.str();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string message = "unknown key '" + key + "' in " + std::string(what);
    const std::string nearest = suggest(key, known);
    if (!nearest.empty()) {
      message += nearest;
    } else {
      message += "; the keys are";
      for (std::size_t i = 0; i < known.size(); ++i) {
        message += (i ? ", " : " ") + std::string(known[i]);
      }
    }
    diagnostics.error(e.key.start(), std::move(message));
  }
}

bool yaml_bool(const YamlNode& node, std::string_view what,
               Diagnostics& diagnostics) {
  if (node.str() == "true" || node.str() == "True") return true;
  if (node.str() != "false" && node.str() != "False") {
    diagnostics.error(node.at,
                      "expected true or false for '" + std::string(what) + "'");
  }
  return false;
}

std::vector<Text> split_commas(const Text& text) {
  std::vector<Text> out;
  const std::string& s = text.str();
  for (std::size_t begin = 0; begin <= s.size();) {
    const std::size_t end = std::min(s.find(',', begin), s.size());
    std::size_t first = begin;
    std::size_t last = end;
    while (first < last && is_space(s[first])) ++first;
    while (last > first && is_space(s[last - 1])) --last;
    if (first < last) {
      out.emplace_back(s.substr(first, last - first), text.at(first));
    }
    begin = end + 1;
  }
  return out;
}

std::vector<Text> yaml_list(const YamlNode& node, std::string_view what,
                            Diagnostics& diagnostics) {
  if (node.is_scalar()) return split_commas(node.scalar);
  std::vector<Text> out;
  if (!node.is_sequence()) {
    if (!node.is_null()) {
      diagnostics.error(node.at,
                        "expected a list for '" + std::string(what) + "'");
    }
    return out;
  }
  for (const YamlNode& item : node.items) {
    if (item.is_scalar()) {
      out.push_back(item.scalar);
    } else {
      diagnostics.error(item.at,
                        "expected words in '" + std::string(what) + "'");
    }
  }
  return out;
}

}  // namespace sy::lang
