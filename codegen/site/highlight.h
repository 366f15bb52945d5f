#pragma once

#include <string>
#include <string_view>

namespace sy::codegen::site {

// Code as HTML, without <pre> and <code> around it: <span class="k"> are
// keywords and keys, s strings, n numbers, c comments, f functions, t types.
// `language` is "cpp", "python", "cmake", "yaml" or "sh"; any other is text.
std::string highlighted(std::string_view language, std::string_view code);

}  // namespace sy::codegen::site
