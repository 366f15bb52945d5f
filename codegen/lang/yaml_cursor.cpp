#include "codegen/lang/yaml_cursor.h"

#include <algorithm>

namespace sy::lang {
namespace {

// The length of the character of UTF-8 that begins at `s`; 0 if none does.
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned char>(s[i]);
  };
  const unsigned char c = byte(0);
  const std::size_t n = c < 0x80             ? 1
                        : (c & 0xE0) == 0xC0 ? 2
                        : (c & 0xF0) == 0xE0 ? 3
                        : (c & 0xF8) == 0xF0 ? 4
                                             : 0;
  if (n == 0 || s.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (n == 2 && c < 0xC2) ||
                        (n == 3 && c == 0xE0 && byte(1) < 0xA0) ||
                        (n == 4 && (c > 0xF4 || (c == 0xF0 && byte(1) < 0x90)));
  return overlong ? 0 : n;
}

constexpr std::string_view kBom = "\xEF\xBB\xBF";

}  // namespace

YamlCursor::YamlCursor(std::string_view text, std::string_view file)
    : text_(text), file_(file), lines_{0} {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      lines_.push_back(++i);
    } else if (c >= 0x80) {
      const std::size_t n = utf8_length(text.substr(i));
      if (n == 0) throw YamlError{i, "the text is not UTF-8"};
      i += n;
    } else if ((c < ' ' && c != '\t' && c != '\r') || c == 0x7F) {
      throw YamlError{i, "a control character, byte " + std::to_string(c)};
    } else {
      ++i;
    }
  }
  if (text.starts_with(kBom)) at_ = kBom.size();
}

Location YamlCursor::location(std::size_t offset) const {
  const bool near = lines_[line_] <= offset &&
                    (line_ + 1 == lines_.size() || offset < lines_[line_ + 1]);
  if (!near) {
    const auto next = std::upper_bound(lines_.begin(), lines_.end(), offset);
    line_ = static_cast<std::size_t>(next - lines_.begin()) - 1;
  }
  Location l;
  l.file = file_;
  l.line = static_cast<std::uint32_t>(line_ + 1);
  l.column = static_cast<std::uint32_t>(offset - lines_[line_] + 1);
  return l;
}

std::size_t YamlCursor::line_start() const {
  location(at_);
  const std::size_t start = lines_[line_];
  return start == 0 && text_.starts_with(kBom) ? kBom.size() : start;
}

void YamlCursor::skip_inline() {
  const std::size_t begin = at_;
  while (peek() == ' ' || peek() == '\t') ++at_;
  if (peek() == '#' && (at_ > begin || at_ == line_start())) {
    while (!at_line_end()) ++at_;
  }
}

void YamlCursor::next_line() {
  if (peek() != '\n') return;
  if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
    ++at_;
  }
  ++at_;
}

bool YamlCursor::skip_lines() {
  bool passed = false;
  while (true) {
    const std::size_t begin = at_;
    skip_inline();
    if (at_end()) return true;
    if (!at_line_end()) {
      const auto gap = text_.substr(begin, at_ - begin);
      if (passed && gap.find('\t') != std::string_view::npos) {
        at_ = begin + gap.find('\t');
        fail("a tab in the indentation; use spaces");
      }
      return passed;
    }
    next_line();
    passed = true;
  }
}

bool YamlCursor::at_marker() const {
  const std::string_view rest = text_.substr(std::min(at_, text_.size()));
  return (rest.starts_with("---") || rest.starts_with("...")) &&
         is_gap(peek(3)) && column() == 0;
}

}  // namespace sy::lang
