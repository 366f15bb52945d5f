#include "codegen/tools/fmt.h"

#include <algorithm>
#include <vector>

#include "c10/schema/parser.h"
#include "codegen/tools/fmt_source.h"
#include "lang/parser.h"
#include "lang/schema_keys.h"
#include "lang/yaml.h"

namespace sy::codegen {
namespace {

using lang::YamlNode;

constexpr std::size_t kWidth = 120;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

std::string without_space(std::string_view s) {
  std::string out;
  std::copy_if(s.begin(), s.end(), std::back_inserter(out),
               [](char c) { return !is_space(c) && c != '\r'; });
  return out;
}

std::string spaces(std::size_t n) { return std::string(n, ' '); }

// The meaning of a text: the quotes that it is read by, and whether it is
// written in the language or is a signature.
enum class Meaning { kText, kExpression, kSignature };

Meaning meaning_of(std::string_view key) {
  constexpr std::string_view kExpressions[] = {
      "pointwise", "reduce", "composite", "foreach", "scan",
      "view",      "shape",  "dtype",     "require", "derivative"};
  if (key == "func" || key == "forms") return Meaning::kSignature;
  return std::find(std::begin(kExpressions), std::end(kExpressions), key) !=
                 std::end(kExpressions)
             ? Meaning::kExpression
             : Meaning::kText;
}

std::string spaced(const std::string& text, Meaning meaning) {
  switch (meaning) {
    case Meaning::kExpression: return space_expression(text);
    case Meaning::kSignature: return space_signature(text);
    case Meaning::kText: break;
  }
  return text;
}

// Whether a line is better cut at the space at `i` than at another: behind
// `in`, before `then` and `else`.
bool is_joint(std::string_view text, std::size_t i) {
  const std::string_view after = text.substr(i + 1);
  return text.substr(0, i).ends_with(" in") || after.starts_with("then ") ||
         after.starts_with("else ");
}

// Cut at spaces outside quotes, rather outside brackets and at joints.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> out;
  std::string_view rest = text;
  while (rest.size() > width) {
    std::size_t best = std::string_view::npos;
    int best_cost = 1 << 20;
    int depth = 0;
    char quote = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (quote) {
        if (c == quote) quote = 0;
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '(' || c == '[') {
        ++depth;
      } else if (c == ')' || c == ']') {
        --depth;
      } else if (c == ' ') {
        if (i > width && best != std::string_view::npos) break;
        const int cost = 2 * depth + (is_joint(rest, i) ? 0 : 1);
        if (i > width || (i >= width / 4 && cost <= best_cost)) {
          best = i;
          best_cost = cost;
        }
        if (i > width) break;
      }
    }
    if (best == std::string_view::npos) break;
    out.emplace_back(rest.substr(0, best));
    rest.remove_prefix(best + 1);
  }
  out.emplace_back(rest);
  return out;
}

class Formatter {
 public:
  Formatter(const FmtSource& source, const YamlNode& root)
      : source_(source), root_(root) {}

  std::string run() {
    for (const YamlNode& item : root_.items) entry(item);
    comments(source_.at_end(), 0);
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    out_ += text;
    out_ += '\n';
  }

  // Groups stay apart.
  void comments(const std::vector<Comment>& list, std::size_t indent) {
    for (const Comment& c : list) {
      if (indent == 0 && c.after_gap) gap();
      line(spaces(indent) + c.text);
    }
  }

  void gap() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  void entry(const YamlNode& item) {
    gap();
    const std::size_t row = item.at.line;
    comments(source_.before(row), 0);
    if (row > 1 && source_.line(row - 1).empty()) gap();
    if (!item.is_map()) {
      line("- " + (item.is_scalar() && source_.opening(item) == 0
                       ? item.str()
                       : source_.slice(item)));
      return;
    }
    std::vector<const YamlNode::Entry*> keys;
    for (const YamlNode::Entry& e : item.entries) keys.push_back(&e);
    std::stable_sort(keys.begin(), keys.end(),
                     [](const YamlNode::Entry* a, const YamlNode::Entry* b) {
                       return lang::key_rank(a->key.str()) <
                              lang::key_rank(b->key.str());
                     });
    std::string first = "- ";
    for (const YamlNode::Entry* e : keys) {
      const std::size_t at = e->key.start().line;
      if (at != row) comments(source_.before(at), 2);
      pair(*e, first, 2, meaning_of(e->key.str()), false);
      first = "  ";
    }
    comments(source_.behind_entry(row), 2);
  }

  std::string key_text(const YamlNode::Entry& e, bool is_expression) const {
    lang::Location before = e.key.start();
    if (before.column > 1) --before.column;
    const char quote = source_.at(before);
    if (quote != '\'' && quote != '"') {
      return is_expression ? space_expression(e.key.str()) : e.key.str();
    }
    const std::string_view l = source_.line(before.line);
    const std::size_t end = l.find(quote, before.column);
    return end == std::string_view::npos
               ? quote + e.key.str() + quote
               : std::string(
                     l.substr(before.column - 1, end + 2 - before.column));
  }

  // "KEY: VALUE" with `head` before it; `indent` is that of the key.
  void pair(const YamlNode::Entry& e, const std::string& head,
            std::size_t indent, Meaning meaning, bool key_is_expression) {
    const std::string key = head + key_text(e, key_is_expression) + ":";
    const bool is_require = indent == 2 && e.key.str() == "require";
    value(e.value, key, indent, meaning, is_require);
  }

  void value(const YamlNode& node, const std::string& head, std::size_t indent,
             Meaning meaning, bool is_require) {
    const std::string behind = source_.trailing(node);
    const std::string comment = behind.empty() ? "" : "  " + behind;
    if (node.is_null()) return line(head);
    if (node.is_scalar()) return scalar(node, head, indent, meaning, comment);
    if (source_.opening(node)) {
      if (source_.has_comment_within(node)) return verbatim(node, head);
      const std::string text = head + ' ' + flow(node, meaning);
      if (text.size() <= kWidth || node.is_sequence()) {
        return line(text + comment);
      }
    }
    line(head);
    if (node.is_map()) {
      for (const YamlNode::Entry& e : node.entries) {
        comments(source_.before(e.key.start().line), indent + 2);
        const Meaning m =
            e.key.str() == "accumulate" ? Meaning::kText : meaning;
        pair(e, spaces(indent + 2), indent + 2, m, is_require);
      }
      return;
    }
    for (const YamlNode& item : node.items) {
      comments(source_.before(item.at.line), indent + 2);
      const std::string dash = spaces(indent + 2) + "-";
      if (!item.is_map() || source_.opening(item)) {
        value(item, dash, indent + 2, meaning, false);
        continue;
      }
      std::string first = dash + ' ';
      for (const YamlNode::Entry& e : item.entries) {
        // A requirement's message is prose.
        pair(e, first, indent + 4, is_require ? Meaning::kText : meaning,
             is_require);
        first = spaces(indent + 4);
      }
    }
  }

  void verbatim(const YamlNode& node, const std::string& head) {
    line(head + ' ' +
         std::string(source_.line(node.at.line).substr(node.at.column - 1)));
    for (std::size_t row = node.at.line + 1; row <= node.end.line; ++row) {
      line(source_.line(row));
    }
  }

  void scalar(const YamlNode& node, const std::string& head, std::size_t indent,
              Meaning meaning, const std::string& comment) {
    const char open = source_.opening(node);
    if (open == '|' || open == '>') {
      return block(node, head, indent, meaning);
    }
    const std::string text = inline_text(node, meaning);
    const std::string whole = head + ' ' + text;
    const std::string& plain = node.str();
    const bool foldable = meaning != Meaning::kSignature && comment.empty() &&
                          plain.find('#') == std::string::npos &&
                          plain.find("  ") == std::string::npos;
    if (whole.size() <= kWidth || !foldable) return line(whole + comment);
    const auto parts = wrapped(spaced(plain, meaning), kWidth - indent - 2);
    if (parts.size() < 2) return line(whole);
    line(head + " >-");
    for (const std::string& part : parts) line(spaces(indent + 2) + part);
  }

  // A scalar on one line.
  std::string inline_text(const YamlNode& node, Meaning meaning) const {
    const char open = source_.opening(node);
    const std::string text = spaced(node.str(), meaning);
    if (open == 0) return text;
    // A text with escapes stays as it is.
    const std::string slice = source_.slice(node);
    if (slice == open + node.str() + open) return open + text + open;
    return slice;
  }

  std::string flow(const YamlNode& node, Meaning meaning) const {
    if (node.is_null()) return "";
    if (node.is_scalar()) return inline_text(node, meaning);
    std::string out;
    if (node.is_sequence()) {
      if (meaning == Meaning::kExpression) {
        return space_expression(node.raw.str());
      }
      for (const YamlNode& item : node.items) {
        out += (out.empty() ? "" : ", ") + flow(item, meaning);
      }
      return '[' + out + ']';
    }
    for (const YamlNode::Entry& e : node.entries) {
      const Meaning m = e.key.str() == "accumulate" ? Meaning::kText : meaning;
      out += (out.empty() ? "" : ", ") + key_text(e, false) + ": " +
             flow(e.value, m);
    }
    return '{' + out + '}';
  }

  void block(const YamlNode& node, const std::string& head, std::size_t indent,
             Meaning meaning) {
    const std::string_view opened =
        source_.line(node.at.line).substr(node.at.column - 1);
    line(head + ' ' + std::string(opened));
    const auto lines = source_.block(node);
    const std::string text = spaced(node.str(), meaning);
    const bool respace = meaning != Meaning::kText &&
                         without_space(text) == without_space(node.str());
    const std::size_t outer =
        lines.empty() ? 0 : lines[0].find_first_not_of(' ');
    std::size_t at = 0;
    for (const std::string_view l : lines) {
      if (l.empty()) {
        line("");
        continue;
      }
      const std::size_t inner = l.find_first_not_of(' ');
      std::string part(l.substr(inner));
      if (respace) part = next_part(text, at, without_space(part).size());
      line(spaces(indent + 2 + inner - outer) + part);
    }
  }

  // The next `n` characters of `text`, white space not counted, without that at
  // either end.
  static std::string next_part(const std::string& text, std::size_t& at,
                               std::size_t n) {
    while (at < text.size() && is_space(text[at])) ++at;
    const std::size_t begin = at;
    while (at < text.size() && n > 0) n -= !is_space(text[at++]);
    return text.substr(begin, at - begin);
  }

  const FmtSource& source_;
  const YamlNode& root_;
  std::string out_;
};

// White space and the order of keys aside.
bool same(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size() ||
      without_space(a.str()) != without_space(b.str())) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!same(a.items[i], b.items[i])) return false;
  }
  return std::all_of(
      a.entries.begin(), a.entries.end(), [&](const YamlNode::Entry& x) {
        const std::string key = without_space(x.key.str());
        return std::any_of(b.entries.begin(), b.entries.end(),
                           [&](const YamlNode::Entry& y) {
                             return without_space(y.key.str()) == key &&
                                    same(x.value, y.value);
                           });
      });
}

}  // namespace

std::string space_expression(const std::string& text) {
  lang::Diagnostics quiet;
  const lang::Expr e = lang::parse(lang::Text(text), quiet);
  if (!e) return text;
  std::string printed = lang::to_string(e);
  return without_space(printed) == without_space(text) ? printed : text;
}

std::string space_signature(const std::string& text) {
  const ParseResult r = parse_and_check_schema(text);
  if (!r.ok()) return text;
  std::string printed = to_string(*r.schema);
  return without_space(printed) == without_space(text) ? printed : text;
}

std::optional<std::string> format_schema(std::string_view text,
                                         std::string_view file,
                                         lang::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.size();
  const YamlNode root = lang::parse_yaml(text, file, diagnostics);
  if (diagnostics.size() != before) return std::nullopt;
  if (!root.is_sequence() && !root.is_null()) {
    diagnostics.error(root.at, "expected a list of operators: '- func: …'");
    return std::nullopt;
  }
  const FmtSource source(text, root);
  std::string out = Formatter(source, root).run();
  lang::Diagnostics quiet;
  const YamlNode again = lang::parse_yaml(out, file, quiet);
  if (!quiet.empty() || !same(root, again) ||
      FmtSource(out, again).all_comments() != source.all_comments()) {
    lang::Location at;
    at.file = file;
    diagnostics.error(at,
                      "the formatter does not understand this file and leaves "
                      "it as it is");
    return std::nullopt;
  }
  return out;
}

}  // namespace sy::codegen
