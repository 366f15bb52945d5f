#pragma once

#include <string>
#include <string_view>

namespace sy::codegen {

// A string of JavaScript, quotes included, that may stand in HTML too.
std::string script_text(std::string_view text);

// The Markdown that emit_docs() writes: headings, which become places to link
// to (`## add.Tensor` is #add.Tensor), fenced code, lists, `code`.
std::string html_of_page(std::string_view markdown);

}  // namespace sy::codegen
