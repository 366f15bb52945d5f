#pragma once

#include <string>
#include <string_view>

#include "c10/macros.h"

namespace sy {

// A graph in the DOT language as an SVG picture, drawn by graphviz's program
// `dot`. Throws NotImplementedError if there is none on PATH, and Error if it
// does not like the text.
SY_API std::string svg_of_dot(std::string_view dot);

}  // namespace sy
