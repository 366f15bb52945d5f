#include "c10/schema/scanner.h"

#include <fmt/core.h>

#include <utility>

#include "c10/schema/schema_error.h"

namespace sy {

SchemaError::SchemaError(std::string message, std::size_t offset)
    : message_(std::move(message)), offset_(offset) {}

SchemaError::~SchemaError() = default;

}  // namespace sy

namespace sy::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
         c == '_';
}

std::string quote(std::string_view token) {
  std::string out = "'";
  out += token;
  return out += '\'';
}

}  // namespace

bool Scanner::at_identifier() {
  const char c = peek();
  return is_word(c) && !is_digit(c);
}

bool Scanner::accept(std::string_view token) {
  skip_space();
  if (!text_.substr(at_).starts_with(token)) return false;
  at_ += token.size();
  return true;
}

void Scanner::expect(std::string_view token, std::string_view where) {
  if (accept(token)) return;
  std::string what = quote(token);
  what += ' ';
  what += where;
  fail_expected(what);
}

std::string_view Scanner::identifier() {
  const std::size_t start = offset();
  if (at_identifier()) {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  }
  return since(start);
}

std::string_view Scanner::expect_identifier(std::string_view what) {
  const std::string_view word = identifier();
  if (word.empty()) fail_expected(std::string(what));
  return word;
}

std::string_view Scanner::digits() {
  const std::size_t start = offset();
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return since(start);
}

std::string_view Scanner::quoted() {
  const std::size_t start = offset();
  const char mark = text_[at_++];
  while (at_ < text_.size() && text_[at_] != mark) {
    at_ += text_[at_] == '\\' ? 2 : 1;
  }
  if (at_ >= text_.size()) fail("unterminated string", start);
  ++at_;
  return since(start);
}

// Takes every byte that could belong to a number; the conversion sees what it
// means, or that it means nothing.
std::string_view Scanner::number() {
  const std::size_t start = offset();
  if (at_ < text_.size() && text_[at_] == '-') ++at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const char last = text_[at_ - (at_ > start)];
    const bool sign = (c == '-' || c == '+') && (last == 'e' || last == 'E');
    if (!is_word(c) && c != '.' && !sign) break;
    ++at_;
  }
  return since(start);
}

void Scanner::fail_expected(const std::string& what) {
  const std::size_t start = offset();
  fail(fmt::format("expected {}, got {}", what, describe_next()), start);
}

void Scanner::fail(std::string message, std::size_t offset) {
  throw SchemaError(std::move(message), offset);
}

std::string Scanner::describe_next() {
  if (at_end()) return "end of text";
  const char c = text_[at_];
  if (is_digit(c)) return quote(number());
  if (is_word(c)) return quote(identifier());
  for (std::string_view token : {"->", "::", "..."}) {
    if (accept(token)) return quote(token);
  }
  if (c > ' ' && c <= '~') return quote({&c, 1});
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
}

}  // namespace sy::detail
