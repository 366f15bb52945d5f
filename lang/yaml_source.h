#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lang/location.h"

// Private to the YAML reader: the text of a file, which yaml-cpp parses. It
// reads texts that we refuse, and tells of none where its characters stand.
// Offsets count bytes from the beginning of the file.

namespace sy::lang {

// Lists and maps within each other.
inline constexpr std::size_t kMaxYamlDepth = 100;

// Thrown at the first error after which the rest cannot be understood.
struct YamlError {
  std::size_t offset;
  std::string message;
};

YamlError yaml_too_deep(std::size_t offset);
YamlError yaml_bad_key(std::size_t offset);
YamlError yaml_cannot_begin(char c, std::size_t offset);

// For one thread at a time. `text` outlives the object.
class YamlSource {
 public:
  YamlSource(std::string_view text, std::string_view file);

  // Throws a YamlError for what yaml-cpp reads and we refuse: bytes that are
  // not UTF-8, control characters, and so many brackets that yaml-cpp would
  // fill the memory before it told of the first.
  void check() const;

  std::string_view text() const { return text_; }
  // The byte at `offset`: 0 behind the end, '\n' for a line's end in any form.
  char at(std::size_t offset) const {
    if (offset >= text_.size()) return 0;
    return text_[offset] == '\r' ? '\n' : text_[offset];
  }
  // The offset of a mark of yaml-cpp, which counts from behind a byte order
  // mark.
  std::size_t offset(int position) const;
  Location location(std::size_t offset) const;
  // Bytes before `offset` on its line, without a byte order mark.
  int column(std::size_t offset) const;
  // The end of the line of `offset`.
  std::size_t line_end(std::size_t offset) const;
  // Whether '---' or '...' stands here, at the beginning of a line.
  bool is_marker(std::size_t offset) const;
  // The first byte from `offset` on that is neither a space nor a tab.
  std::size_t skip_blanks(std::size_t offset) const;

 private:
  std::string_view text_;
  InternedString file_;
  std::vector<std::size_t> lines_;
  mutable std::size_t line_ = 0;  // of the last place asked for
};

// Whether what begins with this byte of YamlSource::at() ends a word.
inline bool yaml_gap(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == 0;
}
// Whether this byte is one of those that stand between nodes within brackets.
inline bool yaml_flow_mark(char c) {
  return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

struct PlacedText {
  Text text;
  std::size_t end;  // behind it, quotes included
};

// The place of each character of a scalar, which yaml-cpp does not tell:
// escapes, folded lines and indentation move it. `value` is what yaml-cpp read
// from `begin` on. Throws if a line of a text in quotes is not indented deeper
// than `indent`; -1 within brackets and for keys.
PlacedText place_scalar(const YamlSource& source, std::size_t begin,
                        const std::string& value, int indent);

}  // namespace sy::lang
