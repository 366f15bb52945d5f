#include "lang/yaml_source.h"

#include <algorithm>

namespace sy::lang {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// yaml-cpp keeps all that is within brackets in a queue for as long as they
// could be a key. No text that means something leaves so many open.
constexpr std::size_t kMaxOpen = 100'000;

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

}  // namespace

YamlError yaml_too_deep(std::size_t offset) {
  return {offset,
          "nested more than " + std::to_string(kMaxYamlDepth) + " deep"};
}

// Limits of yaml-cpp.
YamlError yaml_bad_key(std::size_t offset) {
  return {offset, "expected a key on one line, of at most 1024 bytes"};
}

YamlError yaml_cannot_begin(char c, std::size_t offset) {
  return {offset, std::string("'") + c +
                      "' cannot begin a text; put the text in quotes"};
}

YamlSource::YamlSource(std::string_view text, std::string_view file)
    : text_(text), file_(file), lines_{0} {
  for (std::size_t i = text.find('\n'); i != std::string_view::npos;
       i = text.find('\n', i + 1)) {
    lines_.push_back(i + 1);
  }
}

void YamlSource::check() const {
  std::size_t open = 0;
  std::size_t too_deep = 0;
  for (std::size_t i = 0; i < text_.size();) {
    const auto c = static_cast<unsigned char>(text_[i]);
    if (c >= 0x80) {
      const std::size_t n = utf8_length(text_.substr(i));
      if (n == 0) throw YamlError{i, "the text is not UTF-8"};
      i += n;
      continue;
    }
    if ((c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 0x7F) {
      throw YamlError{i, "a control character, byte " + std::to_string(c)};
    }
    if (c == '[' || c == '{') {
      if (++open == kMaxYamlDepth + 1) too_deep = i;
      if (open > kMaxOpen) throw yaml_too_deep(too_deep);
    } else if ((c == ']' || c == '}') && open > 0) {
      --open;
    }
    ++i;
  }
}

std::size_t YamlSource::offset(int position) const {
  const std::size_t mark =
      text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const auto p = static_cast<std::size_t>(std::max(position, 0));
  return std::min(mark + p, text_.size());
}

Location YamlSource::location(std::size_t offset) const {
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

int YamlSource::column(std::size_t offset) const {
  const std::size_t first = this->offset(0);
  std::size_t start = offset;
  while (start > first && at(start - 1) != '\n') --start;
  return static_cast<int>(offset - start);
}

std::size_t YamlSource::line_end(std::size_t offset) const {
  return std::min(text_.find_first_of("\r\n", offset), text_.size());
}

bool YamlSource::is_marker(std::size_t offset) const {
  const std::string_view rest = text_.substr(std::min(offset, text_.size()));
  return (rest.starts_with("---") || rest.starts_with("...")) &&
         yaml_gap(at(offset + 3)) && column(offset) == 0;
}

std::size_t YamlSource::skip_blanks(std::size_t offset) const {
  return std::min(text_.find_first_not_of(" \t", offset), text_.size());
}

}  // namespace sy::lang
