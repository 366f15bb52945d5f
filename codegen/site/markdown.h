#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostics.h"

namespace sy::codegen::site {

// A heading and its text, up to the next heading.
struct Section {
  int level = 0;      // 1 of <h1>; 0 of the text before the first heading
  std::string id;     // as GitHub makes them: "adding-a-backend"
  std::string title;  // text
  std::string text;  // of its paragraphs, lists and tables, without code blocks
};

struct Document {
  std::string html;
  std::vector<Section> sections;
};

struct Link {
  std::string href;
  std::string html;  // between the brackets
  std::string text;  // the same as text
  lang::Location at;
};

struct MarkdownOptions {
  // The HTML in place of a link.
  std::function<std::string(const Link&)> link;
  // The target of a name in `code`, or "".
  std::function<std::string(std::string_view code)> code_link;
};

// CommonMark with tables. Comments of HTML are left out, any other HTML is
// shown as it is written. Reports images, which a site has no place for.
Document read_markdown(const std::string& path, const std::string& text,
                       const MarkdownOptions& options,
                       lang::Diagnostics& diagnostics);

}  // namespace sy::codegen::site
