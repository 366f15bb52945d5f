#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "c10/schema/default_value.h"

// Private to the library: reads tokens of a signature from left to right.

namespace sy::detail {

class Scanner {
 public:
  // `text` must outlive the scanner.
  explicit Scanner(std::string_view text) : text_(text) {}

  // Offset of the next token.
  std::size_t offset() {
    skip_space();
    return at_;
  }
  // Its first byte, or 0 at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool at_end() { return offset() == text_.size(); }
  bool at_identifier();
  bool accept(std::string_view token);
  // `where` completes "expected ',' …", as in "after '*'".
  void expect(std::string_view token, std::string_view where);
  // Letters, digits and `_`; empty if the next token is no identifier.
  std::string_view identifier();
  std::string_view expect_identifier(std::string_view what);
  // Decimal digits; empty if there are none.
  std::string_view digits();
  // A whole string literal, quotes included. The next byte must be a quote.
  std::string_view quoted();
  std::string_view number();

  [[noreturn]] void fail_expected(const std::string& what);
  [[noreturn]] static void fail(std::string message, std::size_t offset);

 private:
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  std::string_view since(std::size_t start) const {
    return text_.substr(start, at_ - start);
  }
  std::string describe_next();

  std::string_view text_;
  std::size_t at_ = 0;
};

DefaultValue parse_default(Scanner& in);

}  // namespace sy::detail
