#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/lang/location.h"

// Private to the YAML reader: a place in the text, and the scalars.

namespace sy::lang {

// Thrown at the first error after which the rest cannot be understood.
struct YamlError {
  std::size_t offset;
  std::string message;
};

class YamlCursor {
 public:
  YamlCursor(std::string_view text, std::string_view file);
  YamlCursor(const YamlCursor&) = delete;
  YamlCursor& operator=(const YamlCursor&) = delete;

  std::size_t offset() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  // The byte `ahead` of here; 0 behind the end, '\n' for a line's end in any
  // form.
  char peek(std::size_t ahead = 0) const {
    const std::size_t i = at_ + ahead;
    if (i >= text_.size()) return 0;
    return text_[i] == '\r' ? '\n' : text_[i];
  }
  void advance(std::size_t n = 1) { at_ += n; }
  void seek(std::size_t offset) { at_ = offset; }
  std::string_view text() const { return text_; }

  // Bytes between the beginning of the line and here.
  std::size_t column() const { return at_ - line_start(); }
  std::size_t line_start() const;
  Location location(std::size_t offset) const;
  Location location() const { return location(at_); }

  // Spaces and tabs, then a comment if there is one.
  void skip_inline();
  bool at_line_end() const { return at_end() || peek() == '\n'; }
  // To the next line that holds something; an error if a tab indents it. True
  // if a line's end was passed.
  bool skip_lines();
  // Steps over one line's end.
  void next_line();
  // `---` or `...` at the beginning of a line.
  bool at_marker() const;
  // Whether what begins here ends a word: white space or the end.
  static bool is_gap(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == 0;
  }

  [[noreturn]] void fail(std::string message) const {
    throw YamlError{at_, std::move(message)};
  }

 private:
  std::string_view text_;
  InternedString file_;
  std::vector<std::size_t> lines_;
  std::size_t at_ = 0;
  mutable std::size_t line_ = 0;  // of the last place asked for
};

// Each begins at the first byte of a scalar and ends behind it. `indent` is
// that of the collection it stands in, -1 for none: lines of the scalar are
// indented deeper.

// Without quotes; ends before `: `, ` #` and, within brackets, before `,[]{}`.
// With `one_line` it may be a key and takes no further lines.
Text yaml_plain(YamlCursor& in, int indent, bool flow, bool one_line);
// In either kind of quotes.
Text yaml_quoted(YamlCursor& in, int indent);
// After `|` or `>`.
Text yaml_block(YamlCursor& in, int indent);

}  // namespace sy::lang
