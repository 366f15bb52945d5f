#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lang/diagnostics.h"

namespace sy::codegen {

// A file of operators in the one layout: keys in order, two columns a level,
// an empty line between entries, expressions spaced as they are printed, single
// lines up to 120 columns. Comments stay with what follows them; the line
// breaks of a block stay the author's. Formatting twice changes nothing more.
// Nothing after an error.
std::optional<std::string> format_schema(std::string_view text,
                                         std::string_view file,
                                         lang::Diagnostics& diagnostics);

// An expression or signature with the spacing of its printed form; parentheses
// and numbers as they are. Other texts stay.
std::string space_expression(const std::string& text);
std::string space_signature(const std::string& text);

}  // namespace sy::codegen
