#pragma once

#include <string>
#include <string_view>

#include "lang/ast.h"

// Private to the operator pages: pieces of HTML.

namespace sy::codegen::site {

// Text with `code` in it.
std::string inline_html(std::string_view text);
std::string code_html(std::string_view text);
// <pre> in the colours of the language.
std::string block_html(std::string_view language, std::string_view code);
std::string link_html(const std::string& href, std::string_view text);
// <h2 id="…">; level 2 or 3.
std::string heading_html(int level, const std::string& id,
                         std::string_view title);
std::string tag_html(std::string_view text, std::string_view title = {});
// <figure class="picture">; "" without a picture.
std::string figure_html(const std::string& svg, std::string_view caption);

// An expression that is too long for one line, each `let` and each branch of an
// `if` on its own.
std::string laid_out(const lang::Expr& e, std::size_t indent = 0);
// "1.5 µs"
std::string time_text(double nanoseconds);

}  // namespace sy::codegen::site
