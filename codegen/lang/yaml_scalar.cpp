#include <algorithm>
#include <cstdint>
#include <optional>

#include "codegen/lang/yaml_cursor.h"

namespace sy::lang {
namespace {

bool is_flow_mark(char c) {
  return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

// A text put together from pieces that stand at different places.
class Pieces {
 public:
  Pieces(const YamlCursor& in, std::size_t start)
      : in_(in), text_({}, in.location(start)) {}

  void add(std::string_view piece, std::size_t offset) {
    if (offset != expected_) marks_.push_back({value_.size(), offset});
    value_ += piece;
    expected_ = offset + piece.size();
  }
  // What stands for something else in the source, or for a line's end.
  void add_made(std::string_view piece) { value_ += piece; }
  void next_is_elsewhere() { expected_ = static_cast<std::size_t>(-1); }

  std::string& value() { return value_; }

  Text take() {
    const Location start = marks_.empty() || marks_[0].at != 0
                               ? text_.start()
                               : in_.location(marks_[0].offset);
    Text out(std::move(value_), start);
    for (const Mark& m : marks_) out.mark(m.at, in_.location(m.offset));
    return out;
  }

 private:
  struct Mark {
    std::size_t at;
    std::size_t offset;
  };

  const YamlCursor& in_;
  Text text_;
  std::string value_;
  std::vector<Mark> marks_;
  std::size_t expected_ = static_cast<std::size_t>(-1);
};

// Line ends within a scalar: one is a space, more are one fewer newlines.
std::string folded(std::size_t line_ends) {
  return line_ends == 1 ? " " : std::string(line_ends - 1, '\n');
}

bool ends_plain(const YamlCursor& in, bool flow) {
  const char c = in.peek();
  if (c == '\n' || c == 0) return true;
  if (c == ':') {
    const char next = in.peek(1);
    return YamlCursor::is_gap(next) || (flow && is_flow_mark(next));
  }
  return flow && is_flow_mark(c);
}

// The part of a plain scalar that is on this line, spaces at its end not taken.
void plain_line(YamlCursor& in, bool flow) {
  std::size_t end = in.offset();
  while (!ends_plain(in, flow)) {
    const char c = in.peek();
    if (c == '#' && in.offset() > end) break;
    in.advance();
    if (c != ' ' && c != '\t') end = in.offset();
  }
  in.seek(end);
}

// Whether nothing but space follows on this line, so that the scalar may go on
// on the next one.
bool goes_on(const YamlCursor& in) {
  std::size_t n = 0;
  while (in.peek(n) == ' ' || in.peek(n) == '\t') ++n;
  return in.peek(n) == '\n';
}

// Moves to the next line of a plain scalar, over `line_ends` ends of lines.
// False, where it was, if there is none.
bool next_plain_line(YamlCursor& in, int indent, bool flow,
                     std::size_t& line_ends) {
  const std::size_t before = in.offset();
  line_ends = 0;
  while (true) {
    while (in.peek() == ' ' || in.peek() == '\t') in.advance();
    if (in.at_end()) break;
    if (in.peek() != '\n') {
      const bool deeper = flow || static_cast<int>(in.column()) > indent;
      if (line_ends == 0 || !deeper || in.peek() == '#' || in.at_marker() ||
          ends_plain(in, flow)) {
        break;
      }
      return true;
    }
    in.next_line();
    ++line_ends;
  }
  in.seek(before);
  return false;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[more] | (c >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) {
    out += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F));
  }
}

// What an escape of one letter stands for.
std::optional<std::string_view> simple_escape(char c) {
  switch (c) {
    case '0': return std::string_view("\0", 1);
    case 'a': return "\a";
    case 'b': return "\b";
    case 't':
    case '\t': return "\t";
    case 'n': return "\n";
    case 'v': return "\v";
    case 'f': return "\f";
    case 'r': return "\r";
    case 'e': return "\x1B";
    case ' ': return " ";
    case '"': return "\"";
    case '/': return "/";
    case '\\': return "\\";
    case 'N': return "\xC2\x85";
    case '_': return "\xC2\xA0";
    case 'L': return "\xE2\x80\xA8";
    case 'P': return "\xE2\x80\xA9";
    default: return std::nullopt;
  }
}

// After the backslash.
void escape(YamlCursor& in, Pieces& out) {
  const char c = in.peek();
  if (const auto simple = simple_escape(c)) {
    out.add_made(*simple);
    in.advance();
    return;
  }
  const int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits == 0) in.fail("an unknown escape after '\\'");
  in.advance();
  std::uint32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const char d = in.peek();
    const bool number = d >= '0' && d <= '9';
    const char lower = static_cast<char>(d | 0x20);
    if (!number && (lower < 'a' || lower > 'f')) {
      in.fail("expected " + std::to_string(digits) +
              " hexadecimal digits after '\\" + c + "'");
    }
    value = value * 16 +
            static_cast<std::uint32_t>(number ? d - '0' : lower - 'a' + 10);
    in.advance();
  }
  if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
    in.fail("an escape that is no character of Unicode");
  }
  append_utf8(out.value(), value);
}

// From a line's end within quotes to the next text.
void fold_quoted(YamlCursor& in, int indent, Pieces& out, bool escaped) {
  std::string& value = out.value();
  while (!escaped && (value.ends_with(' ') || value.ends_with('\t'))) {
    value.pop_back();
  }
  std::size_t line_ends = 0;
  while (in.peek() == '\n' || in.peek() == ' ' || in.peek() == '\t') {
    if (in.peek() == '\n') {
      in.next_line();
      ++line_ends;
    } else {
      in.advance();
    }
  }
  if (!in.at_end() &&
      (in.at_marker() || static_cast<int>(in.column()) <= indent)) {
    in.fail("a line of a text in quotes that is not indented");
  }
  if (!escaped || line_ends > 1) out.add_made(folded(line_ends));
  out.next_is_elsewhere();
}

struct BlockHeader {
  bool literal = true;
  char chomp = ' ';  // '+' keeps the last line ends, '-' drops them all
  int indent = 0;    // more than that of the collection; 0: see
};

BlockHeader block_header(YamlCursor& in) {
  BlockHeader h;
  h.literal = in.peek() == '|';
  in.advance();
  for (int i = 0; i < 2; ++i) {
    const char c = in.peek();
    if (c == '+' || c == '-') {
      h.chomp = c;
    } else if (c >= '1' && c <= '9') {
      h.indent = c - '0';
    } else {
      break;
    }
    in.advance();
  }
  in.skip_inline();
  if (!in.at_line_end()) {
    in.fail(
        "expected the end of the line after '|' or '>'; put a text that "
        "begins so in quotes");
  }
  in.next_line();
  return h;
}

// Spaces from the beginning of this line on; -1 for a blank line.
int indentation(const YamlCursor& in) {
  std::size_t n = 0;
  while (in.peek(n) == ' ') ++n;
  const char c = in.peek(n);
  return c == '\n' || c == 0 ? -1 : static_cast<int>(n);
}

// That of the first line that holds something.
int first_indentation(YamlCursor& in) {
  const std::size_t before = in.offset();
  int n = -1;
  while (!in.at_end() && (n = indentation(in)) < 0) {
    while (!in.at_line_end()) in.advance();
    in.next_line();
  }
  in.seek(before);
  return n;
}

}  // namespace

Text yaml_plain(YamlCursor& in, int indent, bool flow, bool one_line) {
  const std::size_t start = in.offset();
  plain_line(in, flow);
  const std::string_view text = in.text();
  const std::string_view first = text.substr(start, in.offset() - start);
  std::size_t line_ends = 0;
  if (one_line || !goes_on(in) ||
      !next_plain_line(in, indent, flow, line_ends)) {
    return Text(std::string(first), in.location(start));
  }
  Pieces out(in, start);
  out.add(first, start);
  do {
    out.add_made(folded(line_ends));
    out.next_is_elsewhere();
    const std::size_t begin = in.offset();
    plain_line(in, flow);
    out.add(text.substr(begin, in.offset() - begin), begin);
  } while (goes_on(in) && next_plain_line(in, indent, flow, line_ends));
  return out.take();
}

Text yaml_quoted(YamlCursor& in, int indent) {
  const char quote = in.peek();
  const std::size_t open = in.offset();
  in.advance();
  Pieces out(in, in.offset());
  const std::string_view text = in.text();
  while (true) {
    const std::size_t begin = in.offset();
    while (!in.at_line_end() && in.peek() != quote &&
           !(quote == '"' && in.peek() == '\\')) {
      in.advance();
    }
    if (in.offset() > begin) {
      out.add(text.substr(begin, in.offset() - begin), begin);
    }
    if (in.at_end()) {
      throw YamlError{open, "the quotes are not closed"};
    }
    if (in.peek() == '\n') {
      fold_quoted(in, indent, out, false);
    } else if (in.peek() == '\\') {
      in.advance();
      if (in.peek() == '\n') {
        fold_quoted(in, indent, out, true);
      } else {
        escape(in, out);
      }
      out.next_is_elsewhere();
    } else if (quote == '\'' && in.peek(1) == '\'') {
      out.add("'", in.offset());
      in.advance(2);
      out.next_is_elsewhere();
    } else {
      in.advance();
      return out.take();
    }
  }
}

Text yaml_block(YamlCursor& in, int indent) {
  const std::size_t start = in.offset();
  const BlockHeader h = block_header(in);
  const int first =
      h.indent ? std::max(indent, 0) + h.indent : first_indentation(in);
  Pieces out(in, start);
  std::size_t line_ends = 0;  // since the last text
  bool any = false;
  bool more_before = false;  // the last line was indented deeper
  while (!in.at_end()) {
    const int n = indentation(in);
    if (n >= 0 && (n < first || first <= indent || in.at_marker())) {
      if (in.peek(static_cast<std::size_t>(n)) == '\t') {
        in.advance(static_cast<std::size_t>(n));
        in.fail("a tab in the indentation; use spaces");
      }
      break;
    }
    if (n < 0) {
      // Spaces deeper than the text count, in a literal.
      while (!in.at_line_end()) in.advance();
      if (in.at_end()) break;
      in.next_line();
      ++line_ends;
      continue;
    }
    in.advance(static_cast<std::size_t>(first));
    const std::size_t begin = in.offset();
    while (!in.at_line_end()) in.advance();
    const char c = in.text()[begin];
    const bool more = c == ' ' || c == '\t';
    if (any && !h.literal && !more && !more_before) {
      out.add_made(folded(line_ends));
    } else {
      out.add_made(std::string(line_ends, '\n'));
    }
    out.next_is_elsewhere();
    out.add(in.text().substr(begin, in.offset() - begin), begin);
    any = true;
    more_before = more;
    line_ends = in.at_end() ? 0 : 1;
    in.next_line();
  }
  if (h.chomp == '+') {
    out.add_made(std::string(line_ends, '\n'));
  } else if (h.chomp != '-' && any && line_ends > 0) {
    out.add_made("\n");
  }
  return out.take();
}

}  // namespace sy::lang
