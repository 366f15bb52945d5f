#pragma once

#include <string_view>

#include "lang/ast.h"
#include "lang/diagnostics.h"

namespace sy::lang {

// Parses one expression. Null after an error, of which there is then exactly
// one, at its place.
Expr parse(const Text& text, Diagnostics& diagnostics);
// For texts that are known to be good; throws LangError.
Expr parse(std::string_view text);

// Words that are no names: `if`, `let`, `inf` …
bool is_reserved_word(std::string_view word);

}  // namespace sy::lang
