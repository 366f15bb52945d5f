#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lang/ast.h"

namespace sy::lang {

enum class TokenKind : std::uint8_t {
  kEnd,
  kName,
  kNumber,
  kString,
  kSymbol,  // punctuation, operators and the words of the grammar
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  // The spelling; the characters of a string without quotes.
  std::string text;
  Number number;
  std::size_t offset = 0;
  std::size_t end = 0;

  bool is(std::string_view symbol) const {
    return kind == TokenKind::kSymbol && text == symbol;
  }
};

struct LexError {
  std::size_t offset;
  std::string message;
};

// Cuts a text into tokens, one at a time; throws LexError.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  Token number();
  Token string();
  Token word();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace sy::lang
