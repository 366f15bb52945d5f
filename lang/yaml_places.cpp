#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "lang/yaml_source.h"

namespace sy::lang {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// A value and its source have the same words, escapes aside, and differ in the
// white space between them: so both are walked through side by side.
class Places {
 public:
  Places(const YamlSource& source, std::size_t begin, const std::string& value,
         int indent)
      : source_(source),
        value_(value),
        indent_(indent),
        begin_(begin),
        from_(begin) {
    const char c = source.at(begin);
    if (c == '"' || c == '\'') quote_ = c;
    if (quote_ != 0) ++from_;
    text_ = Text(value, source.location(from_));
    if (c == '|' || c == '>') block_header();
    shift_ = from_;
  }

  PlacedText run() {
    const std::size_t size = value_.find_last_not_of(" \t\r\n") + 1;
    while (quote_ != 0 || at_ < size) {
      spaces();
      const char c = source_.at(from_);
      const bool twice = c == '\'' && source_.at(from_ + 1) == c;
      if (c == 0 && quote_ != 0) {
        throw YamlError{begin_, "the quotes are not closed"};
      }
      if (c == 0) break;
      if (quote_ == '"' && c == '\\') {
        escape();
      } else if (quote_ == '\'' && twice) {
        take(1, 2);
      } else if (c == quote_) {
        return {std::move(text_), from_ + 1};
      } else {
        word();
      }
    }
    return {std::move(text_), from_};
  }

 private:
  // Moves over white space in both.
  void spaces() {
    bool new_line = false;
    for (; is_space(source_.at(from_)); ++from_) {
      new_line |= source_.at(from_) == '\n';
    }
    while (at_ < value_.size() && is_space(value_[at_])) ++at_;
    if (new_line) shift_ = kNone;
    if (new_line && quote_ != 0 && source_.at(from_) != 0 &&
        source_.column(from_) <= indent_) {
      throw YamlError{from_, "a line of a text in quotes that is not indented"};
    }
  }

  // `n` bytes of the value are `length` of the source.
  void take(std::size_t n, std::size_t length) {
    if (from_ - at_ != shift_ && at_ < value_.size()) {
      text_.mark(at_, source_.location(from_));
    }
    at_ = std::min(at_ + n, value_.size());
    from_ += length;
    shift_ = n == length ? from_ - at_ : kNone;
  }

  void word() {
    const char* const ends = quote_ == '"'    ? "\"\\ \t\r\n"
                             : quote_ == '\'' ? "' \t\r\n"
                                              : " \t\r\n";
    const std::string_view text = source_.text();
    std::size_t n = std::min(text.find_first_of(ends, from_ + 1), text.size());
    n -= from_;
    if (quote_ == 0) n = std::min(n, value_.size() - at_);
    take(n, n);
  }

  void escape() {
    const char c = source_.at(from_ + 1);
    if (c == '\n') {
      ++from_;
      return;
    }
    // yaml-cpp 0.7 takes the first, and makes of the others what is no UTF-8.
    if (c == '\'' || c == 'N' || c == '_') {
      throw YamlError{from_ + 1, "an unknown escape after '\\'"};
    }
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    const std::string hex(source_.text().substr(from_ + 2, digits));
    const auto code = std::strtoul(hex.c_str(), nullptr, 16);
    if (digits == 0 ? std::string_view("tnr \t").find(c) != std::string::npos
                    : code < 0x80 && is_space(static_cast<char>(code))) {
      from_ += 2 + digits;
      shift_ = kNone;
      return;
    }
    const auto lead = static_cast<unsigned char>(value_.c_str()[at_]);
    take(lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4, 2 + digits);
  }

  void block_header() {
    while (!yaml_gap(source_.at(from_)) && source_.at(from_) != '#') ++from_;
    if (source_.at(from_) == '#') {
      throw YamlError{from_, "expected a space before the '#' of a comment"};
    }
    from_ = source_.line_end(from_);
  }

  static constexpr std::size_t kNone = std::string::npos;

  const YamlSource& source_;
  const std::string& value_;
  const int indent_;
  const std::size_t begin_;
  char quote_ = 0;
  std::size_t from_;       // how far the source is read
  std::size_t at_ = 0;     // how far the value is
  std::size_t shift_ = 0;  // between the two, as long as it is the same
  Text text_;
};

}  // namespace

PlacedText place_scalar(const YamlSource& source, std::size_t begin,
                        const std::string& value, int indent) {
  return Places(source, begin, value, indent).run();
}

}  // namespace sy::lang
