#include "lang/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numbers>

#include "lang/format.h"
#include "lang/parser.h"

namespace sy::lang {
namespace {

constexpr std::array<std::string_view, 9> kWords = {
    "if", "then", "else", "let", "in", "for", "and", "or", "not"};
constexpr std::array<std::string_view, 8> kLiterals = {
    "true", "false", "True", "False", "None", "inf", "nan", "pi"};
// Longest first.
constexpr std::array<std::string_view, 24> kSymbols = {
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "<",
    ">",  "(",  ")",  "[",  "]",  ",",  ".", ":", "=", ";", "{", "}"};

// Spellings of other languages, and what to write here.
constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
    {"&&", "'and'"},
    {"||", "'or'"},
    {"!", "'not'"},
    {"?", "'if condition then a else b'"},
    {"^", "'**', or bitwise_xor(a, b)"},
    {"&", "'and', or bitwise_and(a, b)"},
    {"|", "'or', or bitwise_or(a, b)"},
    {"~", "'not', or bitwise_not(a)"},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) { return is_word_start(c) || is_digit(c); }

template <class Range>
bool contains(const Range& range, std::string_view word) {
  return std::find(range.begin(), range.end(), word) != range.end();
}

std::string printable(char c) {
  if (c >= ' ' && c <= '~') return fmt::format("'{}'", c);
  constexpr char kHex[] = "0123456789abcdef";
  const auto u = static_cast<unsigned char>(c);
  return std::string("byte 0x") + kHex[u >> 4] + kHex[u & 15];
}

}  // namespace

bool is_reserved_word(std::string_view word) {
  return contains(kWords, word) || contains(kLiterals, word);
}

Token Lexer::number() {
  const std::size_t begin = at_;
  bool is_int = true;
  const auto digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  digits();
  if (at_ < text_.size() && text_[at_] == '.' &&
      !(at_ + 1 < text_.size() && is_word_start(text_[at_ + 1]) &&
        text_[at_ + 1] != 'e')) {
    is_int = false;
    ++at_;
    digits();
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    is_int = false;
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    if (at_ >= text_.size() || !is_digit(text_[at_])) {
      throw LexError{begin, "expected digits after the exponent of a number"};
    }
    digits();
  }
  if (at_ < text_.size() && is_word(text_[at_])) {
    throw LexError{
        at_, fmt::format("expected an operator after the number, got '{}'",
                         std::string(1, text_[at_]))};
  }
  Token t;
  t.kind = TokenKind::kNumber;
  t.text = text_.substr(begin, at_ - begin);
  const char* first = t.text.data();
  const char* last = first + t.text.size();
  if (is_int) {
    std::uint64_t v = 0;
    const auto r = std::from_chars(first, last, v);
    // 2^63 stands for itself behind a minus, which the parser sees to.
    constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
    if (r.ec != std::errc() || v > kLimit) {
      throw LexError{
          begin, fmt::format("integer {} does not fit into 64 bits", t.text)};
    }
    t.number = Number::of(static_cast<std::int64_t>(v));
  } else {
    double v = 0;
    const auto r = std::from_chars(first, last, v);
    if (r.ec == std::errc::result_out_of_range) {
      throw LexError{
          begin, fmt::format("number {} does not fit into a double", t.text)};
    }
    t.number = Number::of(v);
  }
  return t;
}

Token Lexer::string() {
  const std::size_t begin = at_;
  const char quote = text_[at_++];
  Token t;
  t.kind = TokenKind::kString;
  while (at_ < text_.size() && text_[at_] != quote) {
    if (text_[at_] == '\\') {
      throw LexError{at_, "strings have no escapes"};
    }
    t.text += text_[at_++];
  }
  if (at_ == text_.size()) throw LexError{begin, "string without an end"};
  ++at_;
  return t;
}

Token Lexer::word() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  Token t;
  t.text = text_.substr(begin, at_ - begin);
  t.kind = contains(kWords, t.text) ? TokenKind::kSymbol : TokenKind::kName;
  if (t.text == "inf" || t.text == "nan" || t.text == "pi") {
    using Limits = std::numeric_limits<double>;
    t.kind = TokenKind::kNumber;
    t.number = Number::of(t.text == "inf"   ? Limits::infinity()
                          : t.text == "nan" ? Limits::quiet_NaN()
                                            : std::numbers::pi);
  }
  return t;
}

Token Lexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
  const std::size_t begin = at_;
  Token t;
  if (at_ < text_.size()) {
    const char c = text_[at_];
    if (is_digit(c) ||
        (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      t = number();
    } else if (c == '\'' || c == '"') {
      t = string();
    } else if (is_word_start(c)) {
      t = word();
    } else {
      const std::string_view rest = text_.substr(at_);
      for (std::string_view s : kSymbols) {
        if (rest.starts_with(s)) {
          t.kind = TokenKind::kSymbol;
          t.text = s;
          at_ += s.size();
          break;
        }
      }
      if (t.kind == TokenKind::kEnd) {
        for (const auto& [spelling, ours] : kForeign) {
          if (rest.starts_with(spelling)) {
            throw LexError{at_, fmt::format("'{}' is no operator; write {}",
                                            spelling, ours)};
          }
        }
        throw LexError{at_, "unexpected " + printable(c)};
      }
    }
  }
  t.offset = begin;
  t.end = at_;
  return t;
}

}  // namespace sy::lang
